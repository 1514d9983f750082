/// Who holds up whom, from what ranks say.
#include "watchdog/roll_call.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace convoy {
namespace {

/// Two replicas of three stages, rank = 3 * replica + stage; all compute.
std::vector<RankReport> six_ranks() {
  std::vector<RankReport> reports;
  for (int rank = 0; rank < 6; ++rank)
    reports.push_back({.rank = rank,
                       .host = rank < 3 ? "a" : "b",
                       .status = {.replica = rank / 3,
                                  .stage = rank % 3,
                                  .activity = Activity::kTraining,
                                  .in_step = true,
                                  .step = 7,
                                  .instruction = {Op::kForward, 1}}});
  return reports;
}

void wait_in(RankReport& report, Op op) {
  report.status.wait = Wait::kRanks;
  report.status.instruction.op = op;
}

std::vector<int> order_of(const std::vector<RankReport>& reports) {
  std::vector<int> ranks;
  for (const std::size_t i : culprits_first(reports)) ranks.push_back(reports[i].rank);
  return ranks;
}

TEST(RollCall, AnInstructionTellsWhichRanksAreAwaited) {
  auto reports = six_ranks();
  EXPECT_TRUE(awaited_ranks(reports[4], reports).empty()) << "it computes";
  wait_in(reports[4], Op::kRecvActivation);
  EXPECT_EQ(awaited_ranks(reports[4], reports), std::vector<int>{3});
  wait_in(reports[4], Op::kRecvGradient);
  EXPECT_EQ(awaited_ranks(reports[4], reports), std::vector<int>{5});
  wait_in(reports[4], Op::kBackwardInput);  // until its last gradient has been taken
  EXPECT_EQ(awaited_ranks(reports[4], reports), std::vector<int>{3});
  wait_in(reports[4], Op::kGatherBucket);
  EXPECT_EQ(awaited_ranks(reports[4], reports), std::vector<int>{1});
  wait_in(reports[4], Op::kAgreeOnUpdate);
  EXPECT_EQ(awaited_ranks(reports[4], reports), (std::vector<int>{0, 1, 2, 3, 5}));
}

TEST(RollCall, AChainOfWaitsEndsAtTheCulprit) {
  auto reports = six_ranks();
  wait_in(reports[0], Op::kRecvGradient);  // of 1
  wait_in(reports[1], Op::kRecvGradient);  // of 2
  wait_in(reports[2], Op::kFoldBucket);    // of 5
  wait_in(reports[3], Op::kRecvGradient);  // of 4
  wait_in(reports[4], Op::kRecvGradient);  // of 5, which computes
  EXPECT_EQ(order_of(reports).front(), 5);
  EXPECT_EQ(order_of(reports).back(), 0) << "the longest chain";
  reports[5].reach = Reach::kStopped;
  EXPECT_EQ(order_of(reports).front(), 5);
  const std::string table = roll_call_table(reports);
  EXPECT_LT(table.find("stopped (SIGSTOP)"), table.find("waits for"));
  EXPECT_NE(table.find("RecvGradient 1 of step 7: waits for rank 4"), std::string::npos) << table;
}

TEST(RollCall, OfSeveralThatComputeTheLongestStandingComesFirst) {
  auto reports = six_ranks();
  reports[3].status.standing_seconds = 50;
  reports[2].status.standing_seconds = 40;
  EXPECT_EQ(order_of(reports).front(), 3);
  reports[0].reach = Reach::kUnreachable;
  EXPECT_EQ(order_of(reports).front(), 0) << "whoever says nothing is first";
}

TEST(RollCall, ARankThatHasLeftComesFirstOnlyWhereNoOtherComputes) {
  auto reports = six_ranks();
  reports[0].reach = Reach::kLeft;
  EXPECT_NE(order_of(reports).front(), 0);
  for (RankReport& report : reports)
    if (report.rank != 0) wait_in(report, Op::kAgreeOnUpdate);
  EXPECT_EQ(order_of(reports).front(), 0);
  EXPECT_NE(roll_call_table(reports).find("has done its work and left"), std::string::npos);
}

// All wait for all, as in a sum over ranks: the first two of the ring are on one host by chance.
TEST(RollCall, WhereAllWaitForAllTwoHostsAreNamed) {
  auto reports = six_ranks();
  for (RankReport& report : reports) {
    wait_in(report, Op::kAgreeOnUpdate);
    report.status.standing_seconds = 10 + 0.001 * report.rank;
  }
  const std::string text = describe_standstill(reports);
  EXPECT_NE(text.find("between rank 5 on b and rank 0 on a"), std::string::npos) << text;
}

TEST(RollCall, ARingOfWaitsNamesAPairOfHosts) {
  auto reports = six_ranks();
  reports[1].host = "c";                   // of 0, 1 and 2 each waits for the next
  wait_in(reports[0], Op::kRecvGradient);  // of 1
  wait_in(reports[1], Op::kRecvGradient);  // of 2
  wait_in(reports[2], Op::kFoldBucket);    // of 5
  wait_in(reports[5], Op::kFoldBucket);    // of 2
  wait_in(reports[3], Op::kAgreeOnUpdate);
  wait_in(reports[4], Op::kAgreeOnUpdate);
  EXPECT_EQ(ring_of_waits(reports).size(), 2);
  const std::string text = describe_standstill(reports);
  EXPECT_NE(text.find("do not arrive, or arrive only slowly"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 2 on a"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 5 on b"), std::string::npos) << text;
  reports[5].status.wait = Wait::kNothing;
  EXPECT_TRUE(ring_of_waits(reports).empty()) << "5 computes";
  EXPECT_EQ(describe_standstill(reports).find("messages"), std::string::npos);
}

TEST(RollCall, ARingOfWaitsIsNoEndlessLoop) {
  auto reports = six_ranks();
  for (RankReport& report : reports) wait_in(report, Op::kAgreeOnUpdate);
  EXPECT_EQ(order_of(reports).size(), 6u);
}

}  // namespace
}  // namespace convoy
