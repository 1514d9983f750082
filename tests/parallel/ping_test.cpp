/// Messages between pairs of ranks, timed together: every rank knows the times of all pairs.
#include "calibrate/ping.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/comm/process_grid.h"

#include "calibrate/measure_rates.h"
#include "parallel/mpi_main.h"

namespace convoy::test {

namespace {

constexpr std::int64_t kShortBytes = 4096, kLongBytes = 1 << 20, kArenaBytes = 10 * kLongBytes / 4;

/// Pings among all ranks as one pipeline: short messages and long ones, to and fro and at once.
std::vector<std::vector<double>> ping_neighbours(const NodeLoad& node = {}) {
  const ProcessGrid chain(world(), world().size());
  const auto device = make_cpu_device(1);
  const auto transport = make_transport(chain, *device);
  const std::int64_t other = world().rank() ^ 1;
  Ping model{.group = chain.model(), .partner = std::nullopt, .message_bytes = kShortBytes};
  if (other < world().size()) model.partner = other;
  std::vector<Ping> pings = {model, model, model, model};
  pings[1].message_bytes = pings[3].message_bytes = kLongBytes;
  pings[2].at_once = pings[3].at_once = true;
  pings[3].arena_bytes = kArenaBytes;
  return ping(pings, node, world(), *transport, *device);
}

/// Whether all ranks have these times: the largest number of each is the smallest, too.
bool are_common(const std::vector<double>& seconds) {
  return std::ranges::all_of(seconds, [](double time) {
    std::int64_t bits = 0;
    static_assert(sizeof bits == sizeof time);
    std::memcpy(&bits, &time, sizeof bits);
    return world().max(bits) == bits && world().max(-bits) == -bits;
  });
}

void expect_times_of_neighbours(const std::vector<std::vector<double>>& pings) {
  ASSERT_EQ(pings.size(), 4u);
  for (const std::vector<double>& seconds : pings) {
    ASSERT_EQ(std::ssize(seconds), world().size());
    EXPECT_TRUE(are_common(seconds));
    for (std::int64_t rank = 0; rank < world().size(); ++rank) {
      const bool has_partner = (rank ^ 1) < world().size();
      EXPECT_EQ(seconds[rank] > 0, has_partner) << "rank " << rank;
      EXPECT_LT(seconds[rank], 10) << "rank " << rank;
    }
  }
}

}  // namespace

TEST(Ping, HasAPositiveTimeForEachPairAndNoneForARankAlone) {
  expect_times_of_neighbours(ping_neighbours());
}

// Pairs that take turns must not wait for a partner whose turn comes later.
TEST(Ping, EndsWhereRanksShareCores) {
  expect_times_of_neighbours(ping_neighbours({.ranks = world().size(), .ranks_at_once = 1}));
}

TEST(MachineRates, OfOneNodeHoldBetweenNodesToo) {
  const auto ops = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  const MachineRates rates =
      measure_rates({.message_bytes = kLongBytes, .arena_bytes = kArenaBytes}, {}, world(), *ops);
  EXPECT_EQ(rates.on_node, rates.between_nodes);
  EXPECT_EQ(rates.on_node == LinkRates(), world().size() == 1) << "one rank measures no messages";
  EXPECT_TRUE(rates.copied_by_ranks);
  for (const double rate :
       {rates.on_node.bytes_per_second, rates.on_node.exchange_bytes_per_second, rates.memory_bytes_per_second}) {
    EXPECT_GT(rate, 1e5);
    EXPECT_LT(rate, 1e15);
  }
  EXPECT_LT(rates.on_node.latency_seconds, 10);
}

}  // namespace convoy::test
