/// Messages and collectives on any number of ranks, one included.
#include "convoy/comm/communicator.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/comm/on_root.h"

#include "parallel/mpi_main.h"
#include "unit/messages.h"

namespace convoy::mpi {
namespace {

using test::message_of;
using test::world;

// Bytes that differ by sender, by message and by index: a block from the wrong rank, the wrong message or shifted by
// one is not equal to this.
std::vector<std::byte> block(std::int64_t size_bytes, int sender, int message = 0) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(size_bytes));
  std::uint32_t state = 2654435761U * static_cast<std::uint32_t>(1 + sender + 1000 * message);
  for (std::byte& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

int next() {
  return (world().rank() + 1) % world().size();
}
int previous() {
  return (world().rank() + world().size() - 1) % world().size();
}

class RingExchange : public testing::TestWithParam<std::int64_t> {};

TEST_P(RingExchange, EveryRankReceivesItsPredecessorsBytes) {
  const std::int64_t size = GetParam();
  const std::vector<std::byte> sent = block(size, world().rank());
  std::vector<std::byte> received(sent.size());
  Request receive = world().start_receive(received.data(), size, previous(), 7);
  Request send = world().start_send(sent.data(), size, next(), 7);
  wait_until([&] { return send.test() && receive.test(); });
  EXPECT_FALSE(send.active());
  EXPECT_FALSE(receive.active());
  EXPECT_EQ(received, block(size, previous()));
}

// Nothing, one byte, both sides of the eager limit (4 KiB in shared memory), odd, and long.
INSTANTIATE_TEST_SUITE_P(Sizes, RingExchange, testing::Values(0, 1, 37, 4000, 4096, 4097, 65537, 1 << 20, 5'000'011),
                         [](const auto& size) { return "Of" + std::to_string(size.param) + "Bytes"; });

TEST(PointToPoint, ManyOutstandingMessagesArriveByTagInWhateverOrderTheyArePosted) {
  constexpr int kMessages = 300;
  const auto size_of = [](int message) { return std::int64_t{1} + 97 * message; };
  std::vector<std::vector<std::byte>> sent, received(kMessages);
  std::vector<Request> requests;
  for (int m = 0; m < kMessages; ++m) {
    sent.push_back(block(size_of(m), world().rank(), m));
    requests.push_back(world().start_send(sent.back().data(), size_of(m), next(), m));
  }
  for (int m = kMessages - 1; m >= 0; --m) {
    received[static_cast<std::size_t>(m)].resize(static_cast<std::size_t>(size_of(m)));
    requests.push_back(world().start_receive(received[static_cast<std::size_t>(m)].data(), size_of(m), previous(), m));
  }
  wait_until([&] { return std::ranges::all_of(requests, [](Request& request) { return request.test(); }); });
  for (int m = 0; m < kMessages; ++m) {
    ASSERT_EQ(received[static_cast<std::size_t>(m)], block(size_of(m), previous(), m)) << "message " << m;
  }
}

TEST(PointToPoint, MessagesOfOneTagKeepTheirOrder) {
  constexpr int kMessages = 50;
  std::vector<int> sent(kMessages), received(kMessages, -1);
  std::iota(sent.begin(), sent.end(), 100 * world().rank());
  std::vector<Request> requests;
  for (int& value : received) requests.push_back(world().start_receive(&value, sizeof(int), previous(), 0));
  for (const int& value : sent) requests.push_back(world().start_send(&value, sizeof(int), next(), 0));
  for (Request& request : requests) request.wait();
  std::vector<int> expected(kMessages);
  std::iota(expected.begin(), expected.end(), 100 * previous());
  EXPECT_EQ(received, expected);
}

TEST(PointToPoint, BlockingMessagesCutInChunksArriveWhole) {
  if (world().size() < 2) GTEST_SKIP() << "needs two ranks";
  constexpr std::int64_t kSize = 10'007;  // not a multiple of the chunk
  for (const std::int64_t chunk : {std::int64_t{1000}, kSize, kSize + 1}) {
    std::vector<std::byte> bytes(kSize);
    if (world().rank() == 0) world().send(block(kSize, 0).data(), kSize, 1, 3, chunk);
    if (world().rank() == 1) {
      world().receive(bytes.data(), kSize, 0, 3, chunk);
      EXPECT_EQ(bytes, block(kSize, 0)) << "chunks of " << chunk;
    }
  }
}

TEST(PointToPoint, LongerThanMpiCanCountIsRefusedWithAnAdvice) {
  char byte = 0;
  const std::string message = message_of<Error>([&] { world().start_send(&byte, std::int64_t{1} << 31, next(), 0); });
  EXPECT_CONTAINS(message, "2147483648 bytes");
  EXPECT_CONTAINS(message, "batch.micro");
}

TEST(PointToPoint, AnMpiErrorNamesTheCallItsReasonAndThePlace) {
  char byte = 0;
  const std::string message = message_of<Error>([&] { world().start_send(&byte, 1, world().size(), 0); });
  for (const char* part : {"MPI_Isend(", "invalid rank", " src/comm/mpi/communicator.cpp:"})
    EXPECT_CONTAINS(message, part);
}

TEST(Request, NeverStartedIsComplete) {
  Request request;
  EXPECT_TRUE(request.test());
  EXPECT_FALSE(request.active());
  request.wait();
}

TEST(Request, MovedFromIsInactiveAndTheOtherCompletes) {
  int sent = world().rank(), received = -1;
  Request first = world().start_receive(&received, sizeof(int), previous(), 0);
  Request second = std::move(first);
  EXPECT_FALSE(first.active());  // NOLINT(bugprone-use-after-move): what is left is the question
  EXPECT_TRUE(second.active());
  Request send = world().start_send(&sent, sizeof(int), next(), 0);
  second.wait();
  send.wait();
  EXPECT_EQ(received, previous());
}

TEST(WaitUntil, ReturnsAtOnceAfterSpinsYieldsAndSleepsAlike) {
  for (const int tests : {1, 100, 2'500, 22'050}) {
    int count = 0;
    wait_until([&] { return ++count == tests; });
    EXPECT_EQ(count, tests);
  }
}

TEST(Split, GroupsByColorAndOrdersByKey) {
  const int color = world().rank() % 2;
  const Communicator part = world().split(color, -world().rank());  // the last comes first
  const int members = (world().size() - color + 1) / 2;
  EXPECT_EQ(part.size(), members);
  EXPECT_EQ(part.rank(), members - 1 - world().rank() / 2);
  EXPECT_EQ(part.sum(world().rank()), color * members + members * (members - 1));  // sum of color + 2 i
}

TEST(Split, MessagesOfOneGroupAreInvisibleToAnother) {
  const Communicator twin = world().split(0, world().rank());
  int by_twin = 1, by_world = 2, from_twin = 0, from_world = 0;
  Request a = twin.start_send(&by_twin, sizeof(int), next(), 5);
  Request b = world().start_send(&by_world, sizeof(int), next(), 5);
  Request c = world().start_receive(&from_world, sizeof(int), previous(), 5);
  Request d = twin.start_receive(&from_twin, sizeof(int), previous(), 5);
  wait_until([&] { return a.test() && b.test() && c.test() && d.test(); });
  EXPECT_EQ(from_world, 2);
  EXPECT_EQ(from_twin, 1);
}

// Open MPI numbers groups with 16 bits: the number of a group that is not freed is lost.
TEST(Split, GroupsThatHaveEndedLeaveRoomForOthers) {
  if (world().size() > 1) GTEST_SKIP() << "one rank shows it in a second; more of them wait for each other each time";
  constexpr int kGroups = 70'000;
  for (int i = 0; i < kGroups; ++i) ASSERT_EQ(world().split(0, world().rank()).size(), world().size()) << "group " << i;
}

TEST(Split, AGroupLastsUntilItsLastCopyEnds) {
  Communicator copy;
  {
    const Communicator twin = world().split(0, world().rank());
    copy = twin;
  }
  EXPECT_EQ(copy.sum(1), world().size());
}

TEST(Collective, ReduceScatterGivesEachRankItsPartOfTheSum) {
  const int n = world().size();
  constexpr int kCount = 1037;
  const auto value = [](int rank, int i) { return static_cast<float>((rank + 1) * (i % 1000)); };  // integers: exact
  std::vector<float> mine(static_cast<std::size_t>(n * kCount)), part(kCount, -1.0F);
  for (int i = 0; i < n * kCount; ++i) mine[static_cast<std::size_t>(i)] = value(world().rank(), i);
  world().start_reduce_scatter(mine.data(), part.data(), kCount).wait();
  const int sum_of_ranks = n * (n + 1) / 2;  // counted from 1
  for (int i = 0; i < kCount; ++i)
    ASSERT_EQ(part[static_cast<std::size_t>(i)],
              static_cast<float>(sum_of_ranks * ((world().rank() * kCount + i) % 1000)))
        << "element " << i;
}

TEST(Collective, MaxIsTheLargestWhoeverHoldsItAndWhateverItsSign) {
  for (int holder = 0; holder < world().size(); ++holder) {
    const std::int64_t value = world().rank() == holder ? -5 : -(std::int64_t{1} << 40);
    std::int64_t result = 0;
    world().start_max(&value, &result).wait();
    EXPECT_EQ(result, -5);
    EXPECT_EQ(world().max(value), -5);
  }
}

TEST(Collective, SumIsExactBeyondDoublePrecision) {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(world().sum(world().rank() == 0 ? large : 1), large + world().size() - 1);
}

TEST(Collective, StartedSumsAreOfEachPlaceItsOwn) {
  const std::vector<std::int64_t> values = {1, -world().rank(), std::int64_t{1} << 53};
  std::vector<std::int64_t> sums(3);
  world().start_sum(values, sums).wait();
  const std::int64_t n = world().size();
  EXPECT_EQ(sums, (std::vector<std::int64_t>{n, -n * (n - 1) / 2, n << 53}));
}

TEST(OnAll, TheErrorOfTheLowestRankIsEveryones) {
  on_all(world(), [] {});
  for (int lowest = 0; lowest < world().size(); ++lowest) {
    const auto work = [&] {
      if (world().rank() == lowest) refuse("refused by {}", lowest);
      if (world().rank() > lowest) fail("failed on {}", world().rank());
    };
    EXPECT_EQ(message_of<RequestError>([&] { on_all(world(), work); }), "refused by " + std::to_string(lowest));
  }
}

TEST(Collective, BroadcastInChunksReachesEveryRankFromEveryRoot) {
  constexpr std::int64_t kSize = 10'007;
  for (int root = 0; root < world().size(); ++root) {
    for (const std::int64_t chunk : {std::int64_t{1}, std::int64_t{4096}, kSize, 2 * kSize}) {
      const std::int64_t size = chunk == 1 ? 40 : kSize;
      auto bytes = world().rank() == root ? block(size, root) : std::vector<std::byte>(static_cast<std::size_t>(size));
      world().broadcast(bytes.data(), size, root, chunk);
      ASSERT_EQ(bytes, block(size, root)) << "root " << root << ", chunks of " << chunk;
    }
  }
}

TEST(Collective, BroadcastOfNothingAndOfMegabytesReachesEveryRank) {
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{3'000'001}}) {
    const int root = world().size() - 1;
    auto bytes = world().rank() == root ? block(size, root) : std::vector<std::byte>(static_cast<std::size_t>(size));
    world().broadcast(bytes.data(), size, root);
    EXPECT_EQ(bytes, block(size, root));
  }
}

TEST(Collective, GatherJoinsUnequalPartsInRankOrderAtTheRootOnly) {
  const auto size_of = [](int rank) { return rank == 1 ? std::int64_t{0} : 501 + 100 * std::int64_t{rank}; };
  std::vector<std::byte> whole;
  for (int rank = 0; rank < world().size(); ++rank) {
    const auto part = block(size_of(rank), rank);
    whole.insert(whole.end(), part.begin(), part.end());
  }
  const auto mine = block(size_of(world().rank()), world().rank());
  for (int root = 0; root < world().size(); ++root) {
    const auto expected = world().rank() == root ? whole : std::vector<std::byte>();
    EXPECT_EQ(world().gather(mine, root), expected);
    EXPECT_EQ(world().gather(mine, root, 64), expected) << "in chunks";
  }
}

TEST(Collective, BarrierHoldsEveryRankUntilTheLastHasCome) {
  // The ranks of this test share a machine, and so its monotonic clock.
  for (int late = 0; late < world().size(); ++late) {
    if (world().rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    double entered = now_seconds();
    world().barrier();
    const double left = now_seconds();
    world().broadcast(&entered, sizeof(entered), late);
    EXPECT_GE(left, entered) << "rank " << late << " came last";
  }
}

}  // namespace
}  // namespace convoy::mpi
