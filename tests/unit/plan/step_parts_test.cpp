/// Tests that the parts of a planned step add up to it, and that each part has the cause that its name tells.
#include "plan/step_parts.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "convoy/params/command_parameters.h"

#include "plan/described_cluster.h"
#include "plan/efficiency_picture.h"
#include "plan/planner.h"
#include "unit/messages.h"
#include "unit/svg_texts.h"

namespace convoy {

namespace {

// Each cell takes a second forward and two backward. Messages have the rates of `link`; memory takes no time.
RuntimeSpec runtime(const LinkRates& link) {
  MachineCosts machine{.cells = {}, .rates = {.on_node = link, .between_nodes = link, .memory_bytes_per_second = 1e30}};
  machine.cells.cells.assign(11, {.forward_seconds = 1,
                                  .backward_seconds = 2,
                                  .backward_input_seconds = 1,
                                  .backward_weight_seconds = 1,
                                  .recompute_seconds = 1,
                                  .evaluation_seconds = 1});
  return {.network = {.name = "resnet20", .input = ImageShape{8, 8, 3}, .micro_batch = 2, .num_classes = 10},
          .batch = {.global = 16, .micro = 2},
          .run = {.bucket_mib = 1000},
          .machine = machine};
}

constexpr LinkRates kFree{.latency_seconds = 0, .bytes_per_second = 1e30, .exchange_bytes_per_second = 1e30};

StepParts parts_of(const RuntimeSpec& spec, const GridShape& grid, const StepConditions& conditions = {}) {
  return predict_parts(StepPlan(spec, grid), conditions);
}

}  // namespace

TEST(StepParts, OfOneRankAreItsArithmetic) {
  const StepParts parts = parts_of(runtime(kFree), {.stages = 1, .replicas = 1});
  EXPECT_NEAR(parts.arithmetic, 8 * 33, 1e-6);
  EXPECT_NEAR(parts.total(), 8 * 33, 1e-6);
  EXPECT_EQ(parts.limit(), "arithmetic");
}

TEST(StepParts, OfStagesAreTheirBubbleAndWhatMessagesAdd) {
  RuntimeSpec spec = runtime(kFree);
  spec.cuts = {5};
  const StepParts free = parts_of(spec, {.stages = 2, .replicas = 1});
  EXPECT_NEAR(free.arithmetic, 8 * 33 / 2.0, 1e-6);
  EXPECT_NEAR(free.bubble, 8 * 18 + 15 - 8 * 33 / 2.0, 1e-6) << "stage 1 has six cells, and waits for stage 0 first";
  EXPECT_EQ(free.messages, 0);
  EXPECT_EQ(free.limit(), "bubble");
  spec = runtime({.latency_seconds = 100, .bytes_per_second = 1e30, .exchange_bytes_per_second = 1e30});
  spec.cuts = {5};
  const StepParts slow = parts_of(spec, {.stages = 2, .replicas = 1});
  EXPECT_EQ(slow.bubble, free.bubble);
  EXPECT_EQ(slow.limit(), "messages");
  const StepPlan plan(spec, {.stages = 2, .replicas = 1});
  EXPECT_NEAR(slow.total(), predict_step(plan).step_seconds, 1e-6);
}

TEST(StepParts, OfReplicasAreWhatTheirExchangeAddsBeyondBackward) {
  const LinkRates link{.latency_seconds = 0, .bytes_per_second = 1e30, .exchange_bytes_per_second = 1e5};
  const StepPlan plan(runtime(link), {.stages = 1, .replicas = 4});
  const StepParts parts = predict_parts(plan, {});
  EXPECT_NEAR(parts.arithmetic, 2 * 33, 1e-6);
  const double bytes = static_cast<double>(plan.stages()[0].layout.count) * 4;
  EXPECT_NEAR(parts.exchange, 2 * 0.75 * bytes / 1e5, 1e-3) << "one bucket, complete when backward ends";
  EXPECT_NEAR(parts.total(), predict_step(plan).step_seconds, 1e-6);
}

TEST(StepParts, OfUnequalRanksAreTheSlowestOfThem) {
  const RuntimeSpec spec = runtime(kFree);
  const StepParts alone = parts_of(spec, {.stages = 1, .replicas = 1}, {.spread = 0.1});
  EXPECT_EQ(alone.stragglers, 0);
  const StepParts eight = parts_of(spec, {.stages = 1, .replicas = 8}, {.spread = 0.1});
  EXPECT_NEAR(eight.stragglers, 0.1 * expected_max_of_normals(8) * eight.arithmetic, 1e-6);
}

TEST(StepParts, OfASlowLoaderAreTheRestOfItsTime) {
  const StepParts parts = parts_of(runtime(kFree), {.stages = 1, .replicas = 2}, {.loader_samples_per_second = 0.05});
  EXPECT_NEAR(parts.total(), 8 / 0.05, 1e-6) << "8 samples each";
  EXPECT_NEAR(parts.loading, 8 / 0.05 - 4 * 33, 1e-6);
  EXPECT_EQ(parts_of(runtime(kFree), {.stages = 1, .replicas = 2}, {.loader_samples_per_second = 1}).loading, 0);
}

TEST(StepParts, OfASlowDiskAreWhatStepsBetweenCheckpointsDoNotHide) {
  const StepPlan plan(runtime(kFree), {.stages = 1, .replicas = 1});
  const double bytes = static_cast<double>(plan.stages()[0].layout.count) * 4 * 2;  // parameters and their momentum
  StepConditions conditions{.disk_bytes_per_second = bytes / 1000, .steps_per_checkpoint = 2};
  EXPECT_NEAR(predict_parts(plan, conditions).checkpoints, (1000 - 2 * 8 * 33) / 2.0, 1e-3);
  conditions.steps_per_checkpoint = 10;
  EXPECT_NEAR(predict_parts(plan, conditions).checkpoints, 0, 1e-9) << "written while steps go on";
}

// The formula is compared with the mean of many draws.
TEST(ExpectedMaxOfNormals, IsThatOfDraws) {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  for (const std::int64_t n : {1, 2, 8, 100}) {
    double sum = 0;
    constexpr int kDraws = 20'000;  // their mean is right to 1 / sqrt(20,000) standard deviations: 0.007
    for (int i = 0; i < kDraws; ++i) {
      double largest = normal(engine);
      for (std::int64_t j = 1; j < n; ++j) largest = std::max(largest, normal(engine));
      sum += largest;
    }
    EXPECT_NEAR(expected_max_of_normals(n), sum / kDraws, 0.03) << n;
  }
}

TEST(DescribedCluster, TakesThePlaceOfWhatWasMeasured) {
  MachineCosts costs;
  describe_cluster({.ranks_per_node = 8, .latency_us = {2, 5}, .bandwidth_gb_s = {400, 0}, .node_gb_s = 100}, costs);
  EXPECT_DOUBLE_EQ(costs.rates.on_node.latency_seconds, 2e-6);
  EXPECT_DOUBLE_EQ(costs.rates.on_node.bytes_per_second, 4e11);
  EXPECT_DOUBLE_EQ(costs.rates.between_nodes.latency_seconds, 5e-6);
  EXPECT_DOUBLE_EQ(costs.rates.between_nodes.bytes_per_second, 1e10) << "0: as it was";
  EXPECT_EQ(costs.rates.node_bytes_per_second, 1e11);
  EXPECT_EQ(costs.node.ranks, 8);
  EXPECT_FALSE(costs.node.is_shared());
  describe_cluster({.latency_us = {7}}, costs);
  EXPECT_DOUBLE_EQ(costs.rates.on_node.latency_seconds, 7e-6);
  EXPECT_DOUBLE_EQ(costs.rates.between_nodes.latency_seconds, 7e-6) << "one number is of both";
}

TEST(Efficiency, IsThatOfTheFastestBesideAsManyRanksAlone) {
  const RuntimeSpec spec = runtime({.latency_seconds = 0, .bytes_per_second = 1e30, .exchange_bytes_per_second = 1e5});
  const auto compare = [&](std::int64_t ranks) {
    return compare_layouts({.runtime = spec,
                            .ranks = ranks,
                            .machines = {{2, *spec.machine}},
                            .schedules = {ScheduleKind::k1F1B},
                            .recomputes = {RecomputeKind::kNone}});
  };
  const Comparison two = compare(2);
  EXPECT_NEAR(two.alone_samples_per_second, 2 / 33.0, 1e-9);
  EXPECT_NEAR(efficiency(two), two.predictions.front().samples_per_second / (2 * 2 / 33.0), 1e-9);
  EXPECT_LT(efficiency(two), 1);
  EXPECT_CONTAINS(describe(two, 3), "% of 2 times the speed of one rank alone\n");
  const std::string picture = draw_efficiency({two, compare(1024), compare(4)});
  EXPECT_CONTAINS(picture, ">exchange</text>");
  EXPECT_CONTAINS(picture, ">4</text>");
  EXPECT_EQ(picture.find(">1024</text>"), std::string::npos) << "1024 ranks have no layout";
  EXPECT_EQ(test::text_outside(draw_efficiency({two})), "") << "one bar is narrower than the title";
}

}  // namespace convoy
