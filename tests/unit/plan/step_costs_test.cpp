/// Tests of a step's costs on numbers worked out by hand, and of the cuts and schedules that follow from them.
#include "plan/step_costs.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/wording.h"
#include "convoy/device/gpu_links.h"

#include "plan/planner.h"
#include "step/step_clock.h"
#include "step/step_trace.h"
#include "unit/messages.h"

namespace convoy {

namespace {

constexpr LinkRates kLink{.latency_seconds = 2, .bytes_per_second = 1, .exchange_bytes_per_second = 1};
const NetworkSpec kSmall{.name = "resnet20", .input = ImageShape{8, 8, 3}, .micro_batch = 2, .num_classes = 10};

// Cell i takes i + 1 seconds forward, 3 times that backward, and a quarter of it in evaluation. A message takes 2
// seconds, and 1 more per byte. Memory takes no time.
MachineCosts machine() {
  MachineCosts costs{.cells = {}, .rates = {.on_node = kLink, .between_nodes = kLink, .memory_bytes_per_second = 1e30}};
  for (int i = 0; i < 11; ++i) {
    const double unit = i + 1;
    costs.cells.cells.push_back({.forward_seconds = unit,
                                 .backward_seconds = 3 * unit,
                                 .backward_input_seconds = unit,
                                 .backward_weight_seconds = 2.5 * unit,
                                 .recompute_seconds = 0.5 * unit,
                                 .evaluation_seconds = 0.25 * unit});
  }
  return costs;
}

RuntimeSpec runtime() {
  return {.network = kSmall, .batch = {.global = 16, .micro = 2}, .run = {.bucket_mib = 0.01}, .machine = machine()};
}

}  // namespace

TEST(StepCosts, OfAStageAreThoseOfItsCells) {
  RuntimeSpec spec = runtime();
  spec.cuts = {4};
  const StepPlan plan(spec, {.stages = 2, .replicas = 1});
  const PipelineCosts costs = plan.costs();
  ASSERT_EQ(costs.chunks.size(), 2u);
  EXPECT_NEAR(costs.chunks[0].forward_seconds, 1 + 2 + 3 + 4, 1e-9);
  EXPECT_NEAR(costs.chunks[1].forward_seconds, 66 - 10, 1e-9);
  EXPECT_NEAR(*costs.chunks[0].backward_seconds, 30, 1e-9);
  EXPECT_NEAR(costs.chunks[0].backward_input_seconds, 10, 1e-9);
  EXPECT_NEAR(costs.chunks[0].backward_weight_seconds, 25, 1e-9);
  EXPECT_EQ(costs.chunks[0].to_next.size_bytes, 2 * 8 * 8 * 16 * 4) << "layer1.2 gives 8 x 8 x 16 floats a sample";
  EXPECT_EQ(costs.chunks[0].to_next.wire_seconds(), 8192);
  double share = 0;
  for (const BucketCost& bucket : costs.chunks[0].buckets) share += bucket.share;
  EXPECT_NEAR(share, 30, 1e-6);
}

TEST(StepCosts, OfRecomputedCellsAreInBackwardOnceAndInEachOfItsParts) {
  RuntimeSpec spec = runtime();
  spec.cuts = {4};
  spec.memory.recompute = RecomputeKind::kCell;
  const PipelineCosts costs = StepPlan(spec, {.stages = 2, .replicas = 1}).costs();
  EXPECT_NEAR(*costs.chunks[0].backward_seconds, 30 + 5, 1e-9);
  EXPECT_NEAR(costs.chunks[0].backward_input_seconds, 10 + 5, 1e-9);
  EXPECT_NEAR(costs.chunks[0].backward_weight_seconds, 25 + 5, 1e-9);
}

TEST(StepCosts, OfChunksStandInTheOrderOfVirtualStages) {
  RuntimeSpec spec = runtime();
  spec.schedule = ScheduleKind::kInterleaved;
  spec.chunks = 2;
  spec.cuts = {2, 5, 9};
  const PipelineCosts costs = StepPlan(spec, {.stages = 2, .replicas = 1}).costs();
  std::vector<double> forward;
  for (const ChunkCost& chunk : costs.chunks) forward.push_back(chunk.forward_seconds);
  EXPECT_EQ(forward, (std::vector<double>{1 + 2, 3 + 4 + 5, 6 + 7 + 8 + 9, 10 + 11}));
}

TEST(StepCosts, OfFrozenCellsAreForwardAlone) {
  RuntimeSpec spec = runtime();
  spec.network.freeze = {"conv1.*", "bn1.*", "layer1.0.*"};
  const PipelineCosts costs = StepPlan(spec, {.stages = 1, .replicas = 1}).costs();
  EXPECT_NEAR(costs.chunks[0].forward_seconds, 66, 1e-9);
  EXPECT_NEAR(*costs.chunks[0].backward_seconds, 3 * (66 - 1 - 2), 1e-9);
}

// By Thakur et al. an exchange takes R - 1 latencies and the time of (R - 1) / R of the bytes.
TEST(StepCosts, OfAnExchangeAreThoseOfItsSlices) {
  RuntimeSpec spec = runtime();
  spec.run.bucket_mib = 1000;
  const StepPlan plan(spec, {.stages = 1, .replicas = 4});
  const PipelineCosts costs = plan.costs();
  ASSERT_EQ(costs.chunks[0].buckets.size(), 1u);
  const auto bytes = static_cast<double>(plan.stages()[0].layout.count * 4);
  EXPECT_NEAR(costs.chunks[0].buckets[0].reduce_seconds, 3 * 2 + 0.75 * bytes, 1e-3);
  EXPECT_EQ(costs.chunks[0].buckets[0].gather_seconds, costs.chunks[0].buckets[0].reduce_seconds);
  EXPECT_EQ(costs.agree_seconds, 2 * 2 * 2.0) << "there and back in two phases";
}

TEST(StepCosts, OfAnExchangeThatRanksCopyThemselvesAreArithmetic) {
  RuntimeSpec spec = runtime();
  spec.run.bucket_mib = 1000;
  spec.machine->node = {.ranks = 4, .ranks_at_once = 4};
  const GridShape grid{.stages = 1, .replicas = 4};
  const BucketCost beside = StepPlan(spec, grid).costs().chunks[0].buckets[0];
  spec.machine->rates.copied_by_ranks = true;
  const StepPlan plan(spec, grid);
  const BucketCost cost = plan.costs().chunks[0].buckets[0];
  const double copying = 0.75 * static_cast<double>(plan.stages()[0].layout.count * 4);
  EXPECT_NEAR(cost.fold_seconds, beside.fold_seconds + copying, 1e-3);
  EXPECT_NEAR(cost.update_seconds, beside.update_seconds + copying, 1e-3);
  EXPECT_NEAR(cost.reduce_seconds, beside.reduce_seconds - copying, 1e-3);
  EXPECT_NEAR(cost.gather_seconds, 3 * 2, 1e-3) << "latencies";
}

TEST(StepCosts, OfMemoryAreBytesAtItsRate) {
  RuntimeSpec spec = runtime();
  spec.run.bucket_mib = 1000;
  spec.machine->cells.cells.assign(11, {});
  spec.machine->rates.memory_bytes_per_second = 4;  // a float a second
  const StepPlan plan(spec, {.stages = 1, .replicas = 1});
  const ChunkCost cost = plan.costs().chunks[0];
  const auto count = static_cast<double>(plan.stages()[0].layout.count);
  EXPECT_NEAR(*cost.backward_seconds, 7.0 / 8 * 3 * count, 1e-3 * count) << "8 leaves are 7 sums of three floats";
  EXPECT_EQ(cost.load_seconds, 2 * 2 * 8 * 8 * 3);
  EXPECT_NEAR(cost.buckets[0].update_seconds, 5 * count, 1e-3 * count) << "sgd with momentum";
  EXPECT_EQ(cost.buckets[0].fold_seconds, 0) << "one replica";
}

TEST(StepCosts, OfAnUpdateHaveTheLoadingOfItsCellsWeights) {
  RuntimeSpec spec = runtime();
  for (std::size_t i = 0; i < 11; ++i) spec.machine->cells.cells[i].load_weights_seconds = static_cast<double>(1 << i);
  const StepPlan plan(spec, {.stages = 1, .replicas = 1});
  const std::vector<Bucket>& buckets = plan.stages()[0].layout.buckets;
  const std::vector<BucketCost> costs = plan.costs().chunks[0].buckets;
  ASSERT_GT(costs.size(), 1u);
  for (std::size_t b = 0; b < costs.size(); ++b)
    EXPECT_NEAR(costs[b].update_seconds, (1 << buckets[b].cells.end) - (1 << buckets[b].cells.begin), 1e-9) << b;
}

TEST(StepCosts, OfAnUpdateAreWhatItsOptimizerReadsAndWrites) {
  RuntimeSpec spec = runtime();
  spec.run.bucket_mib = 1000;
  spec.machine->rates.memory_bytes_per_second = 4;  // a float a second
  const auto seconds_per_value = [&] {
    const StepPlan plan(spec, {.stages = 1, .replicas = 1});
    const PipelineCosts costs = plan.costs();
    double seconds = 0;
    for (const BucketCost& bucket : costs.chunks[0].buckets) seconds += bucket.update_seconds;
    return seconds / static_cast<double>(plan.stages()[0].layout.count);
  };
  const double sgd = seconds_per_value();
  const auto more_than_sgd = [&](OptimizerKind kind) {
    spec.optimizer.kind = kind;
    return seconds_per_value() - sgd;
  };
  EXPECT_NEAR(more_than_sgd(OptimizerKind::kAdam), 2, 1e-9) << "a second state";
  EXPECT_NEAR(more_than_sgd(OptimizerKind::kLars), 2, 1e-9) << "norms of gradients and weights";
  EXPECT_NEAR(more_than_sgd(OptimizerKind::kLamb), 2 + 2 + 3, 1e-9) << "directions, written down for their norms";
  spec.train.clip_norm = 1;
  spec.train.ema_decay = 0.9;
  EXPECT_NEAR(more_than_sgd(OptimizerKind::kSgd), 1 + 2, 1e-9) << "the gradients' norm, and the moving average";
}

TEST(StepCosts, TellWhichStagesShareCores) {
  RuntimeSpec spec = runtime();
  const auto shared = [&](const GridShape& grid, const NodeLoad& node) {
    spec.machine->node = node;
    return StepPlan(spec, grid).costs().shared;
  };
  EXPECT_TRUE(shared({.stages = 2, .replicas = 2}, {.ranks = 4, .ranks_at_once = 4}).empty());
  EXPECT_TRUE(shared({.stages = 2, .replicas = 1}, {.ranks = 4, .ranks_at_once = 2}).empty()) << "two ranks, two cores";
  const auto two_replicas = shared({.stages = 2, .replicas = 2}, {.ranks = 4, .ranks_at_once = 2});
  ASSERT_EQ(two_replicas.size(), 1u);
  EXPECT_EQ(two_replicas[0].end_stage, 2);
  EXPECT_EQ(two_replicas[0].stages_at_once, 1) << "and one of the other replica";
  EXPECT_EQ(shared({.stages = 1, .replicas = 4}, {.ranks = 4, .ranks_at_once = 2})[0].stages_at_once, 0.5);
  const auto two_nodes = shared({.stages = 4, .replicas = 1}, {.ranks = 2, .ranks_at_once = 1});
  ASSERT_EQ(two_nodes.size(), 2u);
  EXPECT_EQ(two_nodes[1].begin_stage, 2);
  EXPECT_EQ(two_nodes[1].end_stage, 4);
  EXPECT_EQ(two_nodes[1].stages_at_once, 1);
}

// Two stages share one core: there is no bubble, and messages travel during the other stage's work.
TEST(Planner, PredictsTheSumOfAllWorkWhereStagesShareACore) {
  RuntimeSpec spec = runtime();
  constexpr LinkRates kFast{.latency_seconds = 1e-6, .bytes_per_second = 1e12};
  spec.machine->rates = {.on_node = kFast, .between_nodes = kFast, .memory_bytes_per_second = 1e30};
  const GridShape grid{.stages = 2, .replicas = 1};
  spec.machine->node = {.ranks = 2, .ranks_at_once = 1};
  const double all = 8 * (66 + 3 * 66);
  EXPECT_NEAR(predict_step(StepPlan(spec, grid)).step_seconds, all, 1e-3);
  spec.machine->node.ranks_at_once = 2;
  EXPECT_LT(predict_step(StepPlan(spec, grid)).step_seconds, 0.75 * all);
}

TEST(StepPlanCut, FollowsCostsAndTheLimitOfMemory) {
  RuntimeSpec spec = runtime();
  std::reverse(spec.machine->cells.cells.begin(), spec.machine->cells.cells.end());
  const StepPlan free(spec, {.stages = 2, .replicas = 1});
  EXPECT_EQ(free.stages()[1].chunks.front().cells.begin, 3) << "11 + 10 + 9 leave 36 of 66, one more has 38";
  const std::int64_t max = std::max(free.memory_of(0).total(), free.memory_of(1).total());
  std::int64_t min = max;
  for (std::int64_t cut = 1; cut < 11; ++cut) {
    spec.cuts = {cut};
    const StepPlan plan(spec, {.stages = 2, .replicas = 1});
    min = std::min(min, std::max(plan.memory_of(0).total(), plan.memory_of(1).total()));
  }
  ASSERT_LT(min, max) << "there is a cut that takes less memory";
  spec.cuts = {};
  spec.memory.limit_gib = static_cast<double>(min) / (1 << 30);
  const StepPlan bound(spec, {.stages = 2, .replicas = 1});
  EXPECT_NE(bound.stages()[1].chunks.front().cells.begin, 3);
  EXPECT_LE(std::max(bound.memory_of(0).total(), bound.memory_of(1).total()), min);
  spec.memory.limit_gib = static_cast<double>(min - 1) / (1 << 30);
  EXPECT_THROW(StepPlan(spec, {.stages = 2, .replicas = 1}), RequestError);
}

TEST(StepPlanMemory, OnAGpuHoldsWhatCudaAndNcclTake) {
  constexpr std::int64_t kMebibyte = 1 << 20;
  EXPECT_EQ(gpu_library_bytes({.stages = 1, .replicas = 1}, 1, true), 1024 * kMebibyte) << "no links";
  EXPECT_EQ(gpu_library_bytes({.stages = 2, .replicas = 1}, 3, true), (1024 + 4 * 3 * 4 * 12) * kMebibyte);
  EXPECT_EQ(gpu_library_bytes({.stages = 1, .replicas = 4}, 1, true), (1024 + 3 * 16 * 12) * kMebibyte);
  EXPECT_EQ(gpu_library_bytes({.stages = 2, .replicas = 4}, 1, false), (1024 + 2 * 4 * 12) * kMebibyte) << "forward";

  RuntimeSpec spec = runtime();
  const GridShape grid{.stages = 2, .replicas = 1};
  const std::int64_t on_cpu = StepPlan(spec, grid).memory_of(0).total();
  spec.on_gpu = true;
  const StepPlan plan(spec, grid);
  EXPECT_EQ(plan.memory_of(0).total(), on_cpu + gpu_library_bytes(grid, 1, true));
  spec.memory.limit_gib = 1;
  EXPECT_CONTAINS(test::message_of<RequestError>([&] { StepPlan(spec, grid); }), "1.2 GiB of it for CUDA and NCCL");
}

TEST(Planner, PredictsAPipelineOfOneStageBySums) {
  RuntimeSpec spec = runtime();
  const Simulation step = predict_step(StepPlan(spec, {.stages = 1, .replicas = 1}));
  EXPECT_NEAR(step.step_seconds, 8 * (66 + 3 * 66), 1e-6);
}

TEST(Planner, DrawsTheStepThatItPredicts) {
  const StepPlan plan(runtime(), {.stages = 2, .replicas = 2});
  const std::string picture = draw_plan(plan);
  const double seconds = predict_step(plan).step_seconds;
  EXPECT_CONTAINS(picture, fmt::format("planned step of resnet20: {} s<", plain_number(seconds, 3)));
  EXPECT_CONTAINS(picture, fmt::format(">{}</text>", plain_number(seconds, 3))) << "the axis ends there";
}

// Stage 1 takes 14 seconds for each of the 8 micro-batches of a step. Before its first one it waits for stage 0's.
TEST(Planner, PredictsEvaluationsAsStagesThatDoNotWaitBetweenSteps) {
  RuntimeSpec spec = runtime();
  spec.cuts = {4};
  MachineCosts fast_network = machine();
  constexpr LinkRates kFree{.latency_seconds = 0, .bytes_per_second = 1e30};
  fast_network.rates = {.on_node = kFree, .between_nodes = kFree, .memory_bytes_per_second = 1e30};
  const double first = (1 + 2 + 3 + 4) / 4.0, second = 66 / 4.0 - first;
  const StepPlan two_stages(spec, {.stages = 2, .replicas = 1});
  EXPECT_NEAR(predict_evaluation(two_stages, fast_network, 1), first + 8 * second, 1e-6);
  EXPECT_NEAR(predict_evaluation(two_stages, fast_network, 5), (first + 40 * second) / 5, 1e-6);
  spec.cuts = {};
  EXPECT_NEAR(predict_evaluation(StepPlan(spec, {.stages = 1, .replicas = 2}), fast_network, 3), 4 * 66 / 4.0, 1e-6);
}

TEST(Planner, PutsTheFastestFirstAndCountsWhatIsRefused) {
  RuntimeSpec spec = runtime();
  constexpr LinkRates kFast{.latency_seconds = 1e-3, .bytes_per_second = 1e9, .exchange_bytes_per_second = 1e9};
  spec.machine->rates = {.on_node = kFast, .between_nodes = kFast, .memory_bytes_per_second = 1e30};
  const LayoutComparison comparison = compare_layouts({.runtime = spec,
                                                       .ranks = 16,
                                                       .machines = {{2, *spec.machine}},
                                                       .schedules = {ScheduleKind::kNaive, ScheduleKind::k1F1B},
                                                       .recomputes = {RecomputeKind::kNone, RecomputeKind::kCell}});
  EXPECT_EQ(comparison.num_tried, 2 + 4 * 4) << "one stage has one schedule";
  EXPECT_EQ(comparison.refused.at("batch.micro"), 2) << "16 replicas for 8 micro-batches";
  EXPECT_EQ(comparison.refused.at("grid.stages"), 4) << "16 stages for 11 cells";
  ASSERT_EQ(comparison.predictions.size(), 12u);
  for (std::size_t i = 1; i < comparison.predictions.size(); ++i)
    EXPECT_LE(comparison.predictions[i - 1].step_seconds(), comparison.predictions[i].step_seconds());
  const Layout& best = comparison.predictions.front().layout;
  EXPECT_EQ(best.grid.stages, 2) << "8 replicas have a micro-batch each; more stages are no faster with one";
  EXPECT_EQ(best.recompute, RecomputeKind::kNone);
  const std::string table = describe(comparison, 3);
  const LayoutComparison none{.ranks = 64, .refused = {{"batch.micro", 3}}, .num_tried = 3};
  EXPECT_EQ(describe(none, 12),
            "64 ranks: 3 layouts tried; not possible: 3 (batch.micro)\n"
            "  none of them can train: change the keys that are named above, or the number of ranks\n");
  EXPECT_NE(table.find("16 ranks: 18 layouts tried; not possible: 2 (batch.micro), 4 (grid.stages)\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("* "), std::string::npos) << table;
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3 + 3)
      << "what was tried, the fastest, a heading, three rows: " << table;
}

TEST(MachineRates, AreReadBackAsWritten) {
  const MachineRates rates{.key = "this",
                           .on_node = {.latency_seconds = 1.0 / 3e6, .bytes_per_second = 1e10 / 7},
                           .between_nodes = {.latency_seconds = 1.0 / 3e5,
                                             .bytes_per_second = 1e9 / 7,
                                             .exchange_bytes_per_second = 1e9 / 9},
                           .copied_by_ranks = true};
  EXPECT_EQ(MachineRates::parse(rates.serialise(), "this"), rates);
  EXPECT_EQ(MachineRates::parse(rates.serialise(), "that"), std::nullopt);
  EXPECT_EQ(MachineRates::parse("", "this"), std::nullopt);
}

TEST(MachineRates, ThatNothingHasAreNotBelieved) {
  for (const double rate :
       {-1.0, 0.0, 1e-300, 1e308, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const MachineRates rates{.key = "this", .on_node = {.bytes_per_second = rate}};
    EXPECT_THROW(MachineRates::parse(rates.serialise(), "this"), Error) << rate;
    EXPECT_EQ(MachineRates::parse(rates.serialise(), "that"), std::nullopt) << "of others nothing is asked";
  }
  const std::string text = MachineRates{.key = "this"}.serialise();
  EXPECT_CONTAINS(test::message_of<Error>([&] { MachineRates::parse(text.substr(0, text.size() - 1), "this"); }),
                  "its last line is truncated");
}

TEST(CellCosts, ThatNoCellHasAreNotBelieved) {
  const CellCosts costs{.key = "this", .cells = {{1, 2, 3, 4, 5, 6, 7}, {0, 0, 0, 0, 0, 0, 0}}};
  EXPECT_EQ(CellCosts::parse(costs.serialise(), "this", 2), costs);
  EXPECT_EQ(CellCosts::parse(costs.serialise(), "that", 2), std::nullopt);
  EXPECT_CONTAINS(test::message_of<Error>([&] { CellCosts::parse(costs.serialise(), "this", 3); }),
                  "it holds the times of 2 cells, and the network has 3");
  for (const double seconds :
       {-1.0, 1e308, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CellCosts absurd = costs;
    absurd.cells[1].recompute_seconds = seconds;
    EXPECT_CONTAINS(test::message_of<Error>([&] { CellCosts::parse(absurd.serialise(), "this", 2); }),
                    fmt::format("'{}' is not a number from 0 to 100000", seconds));
  }
  // Wherever the text is cut after its key, the rest is refused.
  const std::string text = costs.serialise();
  const std::size_t head = text.find('\n', text.find('\n') + 1);
  for (std::size_t length = head + 1; length < text.size(); ++length)
    EXPECT_THROW(CellCosts::parse(text.substr(0, length), "this", 2), Error) << length;
  EXPECT_CONTAINS(test::message_of<Error>([&] { CellCosts::parse(text + "1 2 3\n", "this", 3); }),
                  "'1 2 3' does not have 7 numbers");
}

TEST(StepClock, SaysThatMessagesDominateAShortStep) {
  StepClock clock(4);
  for (int i = 0; i < 5; ++i) clock.add(4e-4);
  const std::string on_two = compare_step(1e-4, clock, 2), on_one = compare_step(1e-4, clock, 1);
  EXPECT_CONTAINS(on_two, "ratio 0.25. A step this short consists mostly of waiting for messages");
  EXPECT_CONTAINS(on_two, "a run on one rank may be faster");
  EXPECT_CONTAINS(on_one, "ratio 0.25. A step this short consists mostly of starting its operations");
  EXPECT_EQ(compare_step(4e-4, clock, 2), "step: predicted 0.4 ms, measured 0.4 ms (median of 2): ratio 1.00");
}

TEST(StepClock, TellsTheMedianBehindTheWarmUp) {
  StepClock clock(4);
  EXPECT_EQ(compare_step(1, clock, 2), "");
  for (const double seconds : {100.0, 100.0, 100.0, 3.0, 1.0, 2.0, 4.0}) clock.add(seconds);
  EXPECT_EQ(clock.median_seconds(), 2);
  EXPECT_EQ(clock.recent_seconds(), 2.5);
  EXPECT_EQ(compare_step(1.8, clock, 2), "step: predicted 1800 ms, measured 2000 ms (median of 4): ratio 0.90");
  for (const double far : {1.2, 3.02})
    EXPECT_CONTAINS(compare_step(far, clock, 2),
                    ". That is a large difference: other programs may have used these processors");
  for (int i = 0; i < 4; ++i) clock.add(7);
  EXPECT_EQ(clock.median_seconds(), 7) << "the latest four";
}

TEST(StepClock, TellsTheMeanOfTheLatestSteps) {
  StepClock clock(100);
  for (int i = 0; i < 3; ++i) clock.add(100);
  EXPECT_EQ(clock.recent_seconds(), 0) << "the warm-up tells nothing";
  for (int i = 0; i < 200; ++i) clock.add(5);
  for (int i = 0; i < 64; ++i) clock.add(i % 2 == 0 ? 1 : 3);
  EXPECT_EQ(clock.recent_seconds(), 2);
}

}  // namespace convoy
