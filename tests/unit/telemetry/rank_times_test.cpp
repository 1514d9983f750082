/// From what ranks waited to why, and to which of them is slow.
#include <vector>

#include <gtest/gtest.h>

#include "telemetry/slow_ranks.h"

namespace convoy {

namespace {

// Returns a sample of one step: how long it computed, and what it waited for.
RankSample sample(double busy_seconds, const RankWaits& waits = {}) {
  return {.step = 1, .num_steps = 1, .seconds = busy_seconds + waits.total(), .waits = waits};
}

SlowRanks of_replicas(std::int64_t stages, std::int64_t replicas) {
  return SlowRanks({.grid = {.stages = stages, .replicas = replicas},
                    .micro_batches = std::vector<std::int64_t>(static_cast<std::size_t>(replicas), 4),
                    .planned_seconds = {}});
}

std::vector<std::int64_t> named_after(int times, SlowRanks& slow, const RankSamples& samples) {
  std::vector<std::int64_t> ranks;
  for (int i = 0; i < times; ++i)
    for (const SlowRank& rank : slow.add(samples)) ranks.push_back(rank.rank);
  return ranks;
}

using Ranks = std::vector<std::int64_t>;

}  // namespace

TEST(WaitsOf, CountEachInstructionsWaitForWhatItWaitsFor) {
  const StageProgram list = {
      {.op = Op::kLoad}, {.op = Op::kRecvActivation}, {.op = Op::kForward}, {.op = Op::kFoldBucket}, {.op = Op::kLoss}};
  std::vector<InstructionTimes> times;
  for (int step = 0; step < 2; ++step)
    for (const double wait : {1.0, 2.0, 4.0, 8.0, 0.0}) times.push_back({.begin = 10, .ready = 10 + wait, .end = 30});
  const RankWaits waits = waits_of(list, times);
  EXPECT_EQ(waits.samples, 2);
  EXPECT_EQ(waits.neighbours, 4);
  EXPECT_EQ(waits.sends, 8);
  EXPECT_EQ(waits.replicas, 16);
}

TEST(DivideWaits, TakesTheBubbleFromThePlanAndTheRestForStragglers) {
  const std::vector<StageTimes> planned = {{.busy_seconds = 3, .bubble_seconds = 1, .communication_seconds = 0.25},
                                           {.busy_seconds = 3, .bubble_seconds = 1, .communication_seconds = 0.25}};
  const RankSamples samples = {sample(3, {.neighbours = 1}), sample(3, {.neighbours = 4, .samples = 1})};
  const std::vector<TimeShares> shares = divide_waits(samples, {.stages = 2, .replicas = 1}, planned);
  EXPECT_DOUBLE_EQ(shares[0].bubble, 1.0 / 4);
  EXPECT_DOUBLE_EQ(shares[0].straggler, 0);
  EXPECT_DOUBLE_EQ(shares[0].busy, 3.0 / 4);
  EXPECT_DOUBLE_EQ(shares[1].bubble, 1.0 / 8);
  EXPECT_DOUBLE_EQ(shares[1].communication, 0.25 / 8);
  EXPECT_DOUBLE_EQ(shares[1].straggler, 2.75 / 8);
  EXPECT_DOUBLE_EQ(shares[1].data, 1.0 / 8);
}

TEST(DivideWaits, TheReplicaThatWaitsLeastCameLast) {
  const std::vector<StageTimes> planned = {{.busy_seconds = 3}};
  const RankSamples samples = {sample(2, {.replicas = 2}), sample(3, {.replicas = 1})};
  const std::vector<TimeShares> shares = divide_waits(samples, {.stages = 1, .replicas = 2}, planned);
  EXPECT_DOUBLE_EQ(shares[0].communication, 1.0 / 4);
  EXPECT_DOUBLE_EQ(shares[0].straggler, 1.0 / 4);
  EXPECT_DOUBLE_EQ(shares[1].communication, 1.0 / 4);
  EXPECT_DOUBLE_EQ(shares[1].straggler, 0);
}

TEST(SlowRanks, OneThatIsSlowerThanItsReplicasIsNamedOnceAndAgainAtTheEnd) {
  SlowRanks slow = of_replicas(1, 4);
  const RankSamples samples = {sample(1), sample(1.05), sample(1.3), sample(1)};
  EXPECT_EQ(named_after(2, slow, samples), Ranks{});
  EXPECT_EQ(named_after(5, slow, samples), Ranks{2});
  ASSERT_EQ(slow.named().size(), 1U);
  EXPECT_NEAR(slow.named().front().excess(), 0.3, 1e-12);
}

TEST(SlowRanks, WaitsAreNotItsOwnTime) {
  SlowRanks slow = of_replicas(1, 2);
  EXPECT_EQ(named_after(9, slow, {sample(1, {.replicas = 5}), sample(1)}), Ranks{});
}

TEST(SlowRanks, AStageWithMoreWorkIsNotSlow) {
  SlowRanks slow = of_replicas(2, 2);
  EXPECT_EQ(named_after(9, slow, {sample(1), sample(3), sample(1.1), sample(3.1)}), Ranks{});
  EXPECT_EQ(named_after(9, slow, {sample(1), sample(3), sample(1.1), sample(3.6)}), Ranks{3});
}

TEST(SlowRanks, AReplicaWithMoreMicroBatchesIsNotSlow) {
  SlowRanks slow({.grid = {.stages = 1, .replicas = 2}, .micro_batches = {3, 2}, .planned_seconds = {}});
  EXPECT_EQ(named_after(9, slow, {sample(3), sample(2)}), Ranks{});
}

TEST(SlowRanks, OfOneReplicaStagesAreMeasuredByThePlan) {
  SlowRanks slow({.grid = {.stages = 3, .replicas = 1}, .micro_batches = {4}, .planned_seconds = {1, 2, 3}});
  EXPECT_EQ(named_after(9, slow, {sample(1.2), sample(2.4), sample(3.6)}), Ranks{}) << "all alike slower than planned";
  EXPECT_EQ(named_after(9, slow, {sample(1), sample(2.6), sample(3)}), Ranks{}) << "a plan may be so much off";
  const Ranks named = named_after(9, slow, {sample(1), sample(3.2), sample(3)});
  EXPECT_EQ(named, Ranks{1});
  EXPECT_TRUE(slow.named().front().by_plan);
}

TEST(SlowRanks, WithoutPeersOrAPlanNobodyIsSlow) {
  SlowRanks alone = of_replicas(1, 1), unplanned = of_replicas(2, 1);
  EXPECT_EQ(named_after(9, alone, {sample(1)}), Ranks{});
  EXPECT_EQ(named_after(9, unplanned, {sample(1), sample(9)}), Ranks{});
}

TEST(SlowRanks, AnAccidentIsNoAlarm) {
  SlowRanks slow = of_replicas(1, 2);
  const RankSamples even = {sample(1), sample(1)}, uneven = {sample(1), sample(2)};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(named_after(SlowRanks::kIntervalsToName - 1, slow, uneven), Ranks{});
    EXPECT_EQ(named_after(1, slow, even), Ranks{});
  }
}

}  // namespace convoy
