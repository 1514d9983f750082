/// Tests that lists become rows, and that rows which cannot be measured say why.
#include "sweep/sweep_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "unit/messages.h"

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Parameters parameters() {
  Parameters params;
  params.batch = {.global = 32, .micro = 8};
  return params;
}

TEST(SweepRows, AreAllCombinationsTheLastFactorVaryingFastest) {
  Parameters params = parameters();
  params.sweep.stages = {1, 2};
  params.sweep.micro = {4, 8, 16};
  const SweepTable table = make_table(params, 2);
  EXPECT_THAT(table.factors, ElementsAre("stages", "micro"));
  ASSERT_EQ(table.rows.size(), 6u);
  EXPECT_THAT(table.rows[0].values, ElementsAre("1", "4"));
  EXPECT_THAT(table.rows[1].values, ElementsAre("1", "8"));
  EXPECT_THAT(table.rows[5].values, ElementsAre("2", "16"));
  EXPECT_EQ(table.rows[5].number, 6);
  EXPECT_EQ(table.rows[5].params.grid.stages, 2);
  EXPECT_EQ(table.rows[5].params.batch.micro, 16);
  EXPECT_EQ(table.rows[5].ranks, 2);
  EXPECT_EQ(describe_values(table, table.rows[5]), "stages 2, micro 16");
  for (const SweepRow& row : table.rows) EXPECT_EQ(row.reason, "");
}

TEST(SweepRows, EveryListChangesItsOwnParameter) {
  Parameters params = parameters();
  params.sweep.ranks = {4};
  params.sweep.stages = {2};
  params.sweep.schedule = {ScheduleKind::kInterleaved};
  params.sweep.chunks = {3};
  params.sweep.recompute = {RecomputeKind::kCell};
  params.sweep.precision = {PrecisionKind::kBf16};
  params.sweep.global = {64};
  params.sweep.micro_batches = {4};
  const SweepTable table = make_table(params, 8);
  ASSERT_EQ(table.rows.size(), 1u);
  const SweepRow& row = table.rows.front();
  EXPECT_EQ(row.reason, "");
  EXPECT_EQ(row.ranks, 4);
  EXPECT_EQ(row.params.grid.stages, 2);
  EXPECT_EQ(row.params.schedule.kind, ScheduleKind::kInterleaved);
  EXPECT_EQ(row.params.schedule.chunks, 3);
  EXPECT_EQ(row.params.memory.recompute, RecomputeKind::kCell);
  EXPECT_EQ(row.params.train.precision, PrecisionKind::kBf16);
  EXPECT_EQ(row.params.batch.global, 64);
  EXPECT_EQ(row.params.batch.micro, 64 / (2 * 4));  // 2 replicas, each with 4 micro-batches
}

TEST(SweepRows, SamplesPerRankGiveTheBatchOfAllRanksOfTheRow) {
  Parameters params = parameters();
  params.sweep.replicas = {1, 2};
  params.sweep.stages = {1, 2};
  params.sweep.samples_per_rank = {8, 16};
  params.sweep.micro_batches = {2};
  const SweepTable table = make_table(params, 4);
  std::vector<std::int64_t> batches, micro;
  for (const SweepRow& row : table.rows) {
    EXPECT_EQ(row.reason, "");
    batches.push_back(row.params.batch.global);
    micro.push_back(row.params.batch.micro);
  }
  EXPECT_THAT(batches, ElementsAre(8, 16, 16, 32, 16, 32, 32, 64));
  EXPECT_THAT(micro, ElementsAre(4, 8, 8, 16, 4, 8, 8, 16));  // half of a replica's share
}

TEST(SweepRows, TheLargestMicroBatchIsFoundWhereOneSaysMax) {
  Parameters params = parameters();
  params.sweep.stages = {1, 2};
  params.sweep.micro = {8, kLargestThatFits};
  const SweepTable table = make_table(params, 2);
  EXPECT_THAT(table.rows[1].values, ElementsAre("1", "max"));
  EXPECT_FALSE(finds_largest_micro(table.rows[0].params));
  EXPECT_TRUE(finds_largest_micro(table.rows[1].params));
  EXPECT_EQ(table.rows[1].reason, "") << "it is not the work of row 1";
  params.sweep.stages.clear();
  params.grid.stages = 0;
  EXPECT_THAT(make_table(params, 2).rows[1].reason, HasSubstr("sweep.micro = max with grid.stages = auto"));
}

TEST(SweepRows, OfOneStageHaveNoCuts) {
  Parameters params = parameters();
  params.grid.cuts = {5};
  params.sweep.ranks = {2};
  params.sweep.stages = {1, 2};
  const SweepTable table = make_table(params, 2);
  EXPECT_TRUE(table.rows[0].params.grid.cuts.empty());
  EXPECT_THAT(table.rows[1].params.grid.cuts, ElementsAre(5));
}

TEST(SweepRows, ReplicasTakeStagesTimesAsManyRanks) {
  Parameters params = parameters();
  params.sweep.replicas = {1, 2};
  params.sweep.stages = {1, 2};
  const SweepTable table = make_table(params, 4);
  std::vector<std::int64_t> ranks;
  for (const SweepRow& row : table.rows) ranks.push_back(row.ranks);
  EXPECT_THAT(ranks, ElementsAre(1, 2, 2, 4));
}

TEST(SweepRows, CutsByHandHoldForTheirNumberOfStages) {
  Parameters params = parameters();
  params.grid.cuts = {8};
  params.sweep.replicas = {1};
  params.sweep.stages = {1, 2, 3};
  const SweepTable table = make_table(params, 4);
  EXPECT_TRUE(table.rows[0].params.grid.cuts.empty());
  EXPECT_THAT(table.rows[1].params.grid.cuts, ElementsAre(8));
  EXPECT_TRUE(table.rows[2].params.grid.cuts.empty());
}

TEST(SweepRows, WhatCannotBeMeasuredSaysWhy) {
  Parameters params = parameters();
  params.sweep.ranks = {2, 3, 8};
  params.sweep.stages = {2};
  params.sweep.micro = {8, 5};
  const SweepTable table = make_table(params, 4);
  ASSERT_EQ(table.rows.size(), 6u);
  EXPECT_EQ(table.rows[0].reason, "");
  EXPECT_EQ(table.rows[1].reason, "batch.micro = 5 does not divide batch.global = 32. Nearest that do: 4, 8.");
  EXPECT_THAT(table.rows[2].reason, HasSubstr("3"));  // two stages do not divide 3 ranks
  EXPECT_EQ(table.rows[4].reason, "needs 8 ranks; this job has 4");
}

TEST(SweepRows, MicroBatchesThatAreNotEqualSayWhy) {
  Parameters params = parameters();
  params.sweep.micro_batches = {2, 3};
  const SweepTable table = make_table(params, 1);
  EXPECT_EQ(table.rows[0].params.batch.micro, 16);
  EXPECT_THAT(table.rows[1].reason, HasSubstr("batch.global = 32 cannot be cut into 1 x 3 equal micro-batches"));
}

// A single stage has no schedule, and only the interleaved schedule has chunks.
TEST(SweepRows, WorkThatAnotherRowDoesIsNotDoneTwice) {
  Parameters params = parameters();
  params.sweep.stages = {1, 2};
  params.sweep.schedule = {ScheduleKind::kGpipe, ScheduleKind::kInterleaved};
  params.sweep.chunks = {2, 3};
  const SweepTable table = make_table(params, 2);
  std::vector<std::string> reasons;
  for (const SweepRow& row : table.rows) reasons.push_back(row.reason);
  EXPECT_THAT(reasons, ElementsAre("", "the same work as row 1", "the same work as row 1", "the same work as row 1", "",
                                   "the same work as row 5", "", ""));
}

TEST(SweepRows, APredictionRecomputesNothing) {
  Parameters params = parameters();
  params.sweep.recompute = {RecomputeKind::kNone, RecomputeKind::kCell};
  EXPECT_EQ(make_table(params, 1).rows[1].reason, "");
  params.sweep.work = SweepWork::kPredict;
  EXPECT_EQ(make_table(params, 1).rows[1].reason, "the same work as row 1");
}

TEST(SweepRows, WhatTheNetworkRefusesSaysWhy) {
  Parameters params = parameters();
  params.model.name = "resnet20";  // has 11 cells
  params.sweep.stages = {2, 12};
  params.sweep.replicas = {1};
  SweepTable table = make_table(params, 12);
  check_rows({.name = "resnet20", .input = io::ImageInput{.shape = {32, 32, 3}}, .class_names = {"a", "b"}}, table);
  EXPECT_EQ(table.rows[0].reason, "");
  EXPECT_THAT(table.rows[1].reason, HasSubstr("11 cells"));
}

TEST(SweepRows, ASweepWithoutListsIsRefused) {
  EXPECT_THAT(test::message_of<RequestError>([] { make_table(parameters(), 1); }), HasSubstr("sweep.stages = 1, 2"));
}

}  // namespace
}  // namespace convoy
