/// Two levels of the network with three pings each, and sums of arenas.
#include "calibrate/measure_rates.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/comm/gather.h"
#include "convoy/comm/process_grid.h"
#include "convoy/comm/transport.h"
#include "convoy/device/device.h"
#include "convoy/ops/elementwise.h"
#include "convoy/ops/operations.h"

#include "calibrate/measure.h"
#include "calibrate/ping.h"

namespace convoy {

namespace {

constexpr std::int64_t kShortBytes = 4096;
constexpr std::int64_t kPieceBytes = std::int64_t{2} << 20;     // half of run.bucket_mib's default
constexpr std::int64_t kMaxArenaBytes = std::int64_t{1} << 28;  // no cache holds more: larger ones are as slow
constexpr std::size_t kPingsPerLevel = 3;

std::vector<std::int64_t> ranks_on(std::span<const std::int64_t> nodes, std::int64_t node) {
  std::vector<std::int64_t> ranks;
  for (std::int64_t r = 0; r < std::ssize(nodes); ++r)
    if (nodes[r] == node) ranks.push_back(r);
  return ranks;
}

std::int64_t index_of(const std::vector<std::int64_t>& values, std::int64_t value) {
  return std::ranges::find(values, value) - values.begin();
}

std::optional<std::int64_t> at(const std::vector<std::int64_t>& values, std::int64_t index) {
  return index < std::ssize(values) ? std::optional(values[index]) : std::nullopt;
}

// Returns for each rank of world, on all of them, the first rank of its node.
std::vector<std::int64_t> nodes_of_ranks(const mpi::Communicator& world) {
  return mpi::share_value(world, -world.split_by_node().max(-world.rank()));
}

// Short messages, long messages and pieces of arenas between the pairs of a level of the network. The arenas are
// exchanged in a group of the pair: the others of a larger group would have to exchange something, too. All ranks of
// `chain`, a grid of a single pipeline, call this function.
std::vector<Ping> pings_of_level(const ProcessGrid& chain, std::optional<std::int64_t> partner, const RatesSpec& spec) {
  const std::int64_t mine = chain.world().rank();
  const mpi::Communicator pair = chain.world().split(static_cast<int>(std::min(mine, partner.value_or(mine))), 0);
  return {{.group = chain.model(), .partner = partner, .message_bytes = kShortBytes},
          {.group = chain.model(), .partner = partner, .message_bytes = spec.message_bytes},
          {.group = pair,
           .partner = partner ? std::optional<std::int64_t>(1 - pair.rank()) : std::nullopt,
           .message_bytes = std::min(spec.arena_bytes, kPieceBytes),
           .at_once = true,
           .arena_bytes = spec.arena_bytes}};
}

// Returns the rates of a level from the times of its pings; nothing if it has no pairs.
std::optional<LinkRates> rates_of_level(std::span<const Ping> pings, std::span<const std::vector<double>> seconds) {
  const auto slowest_pair = [&](std::size_t ping) { return *std::ranges::max_element(seconds[ping]); };
  const double latency = slowest_pair(0);
  if (latency == 0) return std::nullopt;
  const std::int64_t more_bytes = pings[1].message_bytes - pings[0].message_bytes;
  return LinkRates{.latency_seconds = latency,
                   .bytes_per_second = rate_after_latency(more_bytes, slowest_pair(1), latency),
                   .exchange_bytes_per_second = rate_after_latency(pings[2].message_bytes, slowest_pair(2), latency)};
}

void measure_messages(RatesSpec spec, const NodeLoad& node, const mpi::Communicator& world, Device& device,
                      MachineRates& rates) {
  const ProcessGrid chain(world, world.size());
  const auto transport = make_transport(chain, device);
  spec.message_bytes = std::max(spec.message_bytes, 16 * kShortBytes);
  const std::vector<std::int64_t> nodes = nodes_of_ranks(world);
  std::vector<Ping> pings;
  for (const auto& partner : {partner_on_node(nodes, world.rank()), partner_on_another_node(nodes, world.rank())})
    std::ranges::move(pings_of_level(chain, partner, spec), std::back_inserter(pings));
  const std::vector<std::vector<double>> seconds = ping(pings, node, world, *transport, device);
  const auto level = [&](std::size_t number) {
    const std::size_t first = number * kPingsPerLevel;
    return rates_of_level(std::span(pings).subspan(first, kPingsPerLevel),
                          std::span(seconds).subspan(first, kPingsPerLevel));
  };
  const auto on_node = level(0), between = level(1);
  rates.on_node = on_node ? *on_node : between.value_or(rates.on_node);
  rates.between_nodes = between.value_or(rates.on_node);
}

Repetitions repeat_sums(std::int64_t bytes, ops::Backend& backend) {
  Device& device = backend.device();
  const std::int64_t count = bytes / kFloatBytes;
  const Buffer a(device, bytes), b(device, bytes);
  return repeat([&] {
    backend.elementwise().add(DataType::kFloat32, a.data(), b.data(), b.data(), count);
    device.synchronize();
  });
}

double measure_memory(std::int64_t bytes, const NodeLoad& node, const mpi::Communicator& world, ops::Backend& backend) {
  constexpr double kTrips = 3;  // a, b, their sum
  constexpr double kMaxMemorySpread = 0.5;
  const Steadiest best =
      measure_together(world, node, /*in_pairs=*/false, kMaxMemorySpread, [&] { return repeat_sums(bytes, backend); });
  return kTrips * static_cast<double>(bytes) / std::max(best.repetitions.median_seconds, kMinSeconds);
}

constexpr std::int64_t kMinSide = 128, kMaxSide = 8192;  // rows and columns of all three matrices
constexpr double kLargeSeconds = 0.01;  // a product of this length keeps all cores or multiprocessors busy

constexpr int kMinProductRounds = 3;
constexpr double kEnoughProductSeconds = 0.3;

/// The product y = x w^T of square matrices.
class Product {
 public:
  Product(ops::Backend& backend, DataType type, std::int64_t side)
      : device_(backend.device()),
        spec_{.n = side, .num_inputs = side, .num_outputs = side, .type = type, .y_type = type},
        op_(backend.create<ops::LinearOp>(spec_)),
        x_(device_, side * side * size_of(type)),
        w_(device_, x_.size_bytes()),
        b_(device_, side * size_of(type)),
        y_(device_, x_.size_bytes()) {
    for (const Buffer* input : {&x_, &w_}) fill(backend, type, input->data(), side * side);
    time_once();  // the first use of code and memory is slower
  }

  double flop() const { return spec_.forward_flop(); }
  double time_once() const {
    const double start = now_seconds();
    op_->forward(x_.data(), w_.data(), b_.data(), {.y = y_.data()});
    device_.synchronize();
    return now_seconds() - start;
  }

 private:
  Device& device_;
  ops::LinearSpec spec_;
  std::unique_ptr<ops::LinearOp> op_;
  Buffer x_, w_, b_, y_;
};

}  // namespace

std::optional<std::int64_t> partner_on_node(std::span<const std::int64_t> nodes, std::int64_t rank) {
  const std::vector<std::int64_t> mine = ranks_on(nodes, nodes[rank]);
  return at(mine, index_of(mine, rank) ^ 1);
}

std::optional<std::int64_t> partner_on_another_node(std::span<const std::int64_t> nodes, std::int64_t rank) {
  std::vector<std::int64_t> firsts(nodes.begin(), nodes.end());
  std::ranges::sort(firsts);
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  const auto other = at(firsts, index_of(firsts, nodes[rank]) ^ 1);
  if (!other) return std::nullopt;
  return at(ranks_on(nodes, *other), index_of(ranks_on(nodes, nodes[rank]), rank));
}

MachineRates measure_rates(const RatesSpec& given, const NodeLoad& node, const mpi::Communicator& world,
                           ops::Backend& backend) {
  RatesSpec spec = given;
  spec.arena_bytes = std::clamp(spec.arena_bytes, kShortBytes, kMaxArenaBytes);
  MachineRates rates{.copied_by_ranks = backend.device().is_host()};
  if (world.size() > 1) measure_messages(spec, node, world, backend.device(), rates);
  rates.memory_bytes_per_second = measure_memory(spec.arena_bytes, node, world, backend);
  return rates;
}

double measure_product_rate(ops::Backend& backend, DataType type) {
  double best = 0;
  for (std::int64_t side = kMinSide; side <= kMaxSide; side *= 2) {
    const Product product(backend, type, side);
    const double seconds = product.time_once();
    best = std::max(best, product.flop() / seconds);
    if (seconds < kLargeSeconds && side < kMaxSide) continue;
    const double begin = now_seconds();
    for (int round = 0; round < kMinProductRounds || now_seconds() - begin < kEnoughProductSeconds; ++round)
      best = std::max(best, product.flop() / product.time_once());
    break;
  }
  return best;
}

}  // namespace convoy
