/// Tests the simulated time of work, buckets and waits on examples worked out by hand, and that all time is accounted
/// for.
#include <limits>
#include <random>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/schedule/simulator.h"

#include "unit/schedule/draw.h"
#include "unit/schedule/simulated_pipeline.h"

namespace convoy {
namespace {

using testing::equal_costs;
using testing::for_each_size;
using testing::index_of;
using testing::kUnit;
using testing::kZeroBuffering;
using testing::pipeline;
using testing::PipelineSize;
using testing::transfer;
using testing::uneven_costs;

/// Calls `check` for pipelines with 1 bucket and with 3.
template <typename Check>
void for_each_pipeline(const Check& check) {
  for_each_size(1, [&](PipelineSize size) {
    for (const std::int64_t buckets : {1, 3}) {
      SCOPED_TRACE(fmt::format("{} buckets", buckets));
      size.num_buckets = buckets;
      check(pipeline(size));
    }
  });
}

TEST(Simulator, RunsEveryInstructionInOrderWithoutGaps) {
  std::mt19937 engine(2);
  for (const ScheduleKind kind : {ScheduleKind::k1F1B, ScheduleKind::kInterleaved, ScheduleKind::kZeroBubble}) {
    const std::int64_t chunks = kind == ScheduleKind::kInterleaved ? 2 : 1;
    const PipelineSpec spec = pipeline({.stages = 4, .micro_batches = 6, .num_buckets = 3, .chunks = chunks});
    const Schedule schedule = make_schedule(kind, spec);
    const PipelineCosts costs = uneven_costs(spec.virtual_stages(), engine);
    const Simulation simulation = simulate(schedule, costs, kZeroBuffering);
    for (std::size_t s = 0; s < schedule.size(); ++s) {
      ASSERT_EQ(simulation.spans[s].size(), schedule[s].size());
      double clock = 0;
      for (std::size_t i = 0; i < schedule[s].size(); ++i) {
        const Span& span = simulation.spans[s][i];
        EXPECT_EQ(span.instruction, schedule[s][i]);
        EXPECT_EQ(span.begin_seconds, clock);
        EXPECT_GE(span.ready_seconds, span.begin_seconds);
        EXPECT_GE(span.end_seconds, span.ready_seconds);
        clock = span.end_seconds;
      }
      EXPECT_LE(clock, simulation.step_seconds);
    }
    const Simulation without = simulate(schedule, costs, {.zero_buffering = true, .keep_spans = false});
    EXPECT_EQ(without.step_seconds, simulation.step_seconds);
    for (const auto& spans : without.spans) EXPECT_TRUE(spans.empty());
  }
}

// The bubble is one subtraction of a quotient of exact whole numbers, compared with one quotient or another such
// subtraction. Each rounds by at most half an epsilon of a number of at most 1, so two epsilons bound the difference.
constexpr double kBubbleTolerance = 2 * std::numeric_limits<double>::epsilon();

TEST(Simulator, TakesTheWorkOfEachInstruction) {
  const Schedule schedule = {{{Op::kLoad, 0}, {Op::kForward, 0}, {Op::kSendActivation, 0}},
                             {{Op::kRecvActivation, 0}, {Op::kForward, 0}}};
  const Simulation simulation = simulate(schedule, std::vector<WorkSeconds>{{1, 2, 4}, {8, 16}});
  EXPECT_EQ(simulation.spans[0].back().end_seconds, 7);
  EXPECT_EQ(simulation.spans[1].front().end_seconds, 15) << "has left at 7, is unpacked for 8";
  EXPECT_EQ(simulation.step_seconds, 31);
  EXPECT_THROW(simulate(schedule, std::vector<WorkSeconds>{{1, 2, 4}, {8}}), Error);
}

/// Returns the costs with all stages in one group that shares cores.
PipelineCosts sharing(PipelineCosts costs, const Schedule& schedule, double stages_at_once) {
  costs.shared = {{.begin_stage = 0, .end_stage = std::ssize(schedule), .stages_at_once = stages_at_once}};
  return costs;
}

// Stage A has 4 seconds of work, stage B has 1. Both run at half speed until B is done at 2; then A has 3 seconds left.
TEST(Simulator, StagesThatShareACoreSlowEachOtherDownWhileBothCompute) {
  const Schedule schedule = {{{Op::kForward, 0}}, {{Op::kForward, 0}}};
  const PipelineCosts costs{.chunks = {{.forward_seconds = 4}, {.forward_seconds = 1}}};
  const Simulation alone = simulate(schedule, costs);
  EXPECT_EQ(alone.step_seconds, 4);
  const Simulation shared = simulate(schedule, sharing(costs, schedule, 1));
  EXPECT_EQ(shared.spans[1][0].end_seconds, 2);
  EXPECT_EQ(shared.spans[0][0].end_seconds, 5);
  EXPECT_EQ(shared.stages[0].busy_seconds, 5);
  EXPECT_EQ(shared.stages[1].busy_seconds, 2);
  EXPECT_EQ(shared.stages[1].bubble_seconds, 3);
  const Simulation crowded = simulate(schedule, sharing(costs, schedule, 0.5));
  EXPECT_EQ(crowded.step_seconds, 10) << "another replica computes there too";
  EXPECT_EQ(simulate(schedule, sharing(costs, schedule, 1.5)).spans[1][0].end_seconds, 1 / 0.75);
}

// The core is busy while at least one stage computes, so no schedule has a bubble.
TEST(Simulator, AStepOnOneCoreTakesAsLongAsAllItsWork) {
  for_each_pipeline([](const PipelineSpec& spec) {
    const auto p = static_cast<double>(spec.stages), m = static_cast<double>(spec.micro_batches);
    for (const ScheduleKind kind : {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B}) {
      const Schedule schedule = make_schedule(kind, spec);
      const PipelineCosts costs = sharing(equal_costs(schedule, kUnit), schedule, 1);
      // Each end of work is now_ + left / rate, which rounds twice, and there are fewer than 3 p m ends.
      const double all = m * p * 9, tolerance = 2 * 3 * p * m * all * std::numeric_limits<double>::epsilon();
      EXPECT_NEAR(simulate(schedule, costs).step_seconds, all, tolerance);
    }
  });
}

TEST(Simulator, CoresForAllStagesChangeNothing) {
  for_each_pipeline([](const PipelineSpec& spec) {
    for (const ScheduleKind kind : {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B}) {
      const Schedule schedule = make_schedule(kind, spec);
      const PipelineCosts costs = equal_costs(schedule, kUnit);
      const auto enough = static_cast<double>(spec.stages);
      EXPECT_EQ(simulate(schedule, sharing(costs, schedule, enough), kZeroBuffering).step_seconds,
                simulate(schedule, costs, kZeroBuffering).step_seconds);
    }
  });
}

TEST(Simulator, BubbleOfGpipeAnd1F1BIsStagesLessOneOverAllSlots) {
  for_each_pipeline([](const PipelineSpec& spec) {
    const auto p = static_cast<double>(spec.stages), m = static_cast<double>(spec.micro_batches);
    for (const ScheduleKind kind : {ScheduleKind::kGpipe, ScheduleKind::k1F1B}) {
      for (const bool zero_buffering : {false, true}) {  // no waits if transfers take no time
        const Schedule schedule = make_schedule(kind, spec);
        const Simulation simulation =
            simulate(schedule, equal_costs(schedule, kUnit), {.zero_buffering = zero_buffering});
        EXPECT_EQ(simulation.step_seconds, (m + p - 1) * 9);
        EXPECT_NEAR(simulation.bubble, (p - 1) / (m + p - 1), kBubbleTolerance);
      }
    }
  });
}

TEST(Simulator, BubbleOfNaiveIsAllStagesButOne) {
  for_each_pipeline([](const PipelineSpec& spec) {
    const auto p = static_cast<double>(spec.stages), m = static_cast<double>(spec.micro_batches);
    const Schedule schedule = make_naive(spec);
    const Simulation simulation = simulate(schedule, equal_costs(schedule, kUnit));
    EXPECT_EQ(simulation.step_seconds, m * p * 9);
    EXPECT_NEAR(simulation.bubble, 1 - 1 / p, kBubbleTolerance);
  });
}

/// Returns the costs of one stage with two equal buckets.
PipelineCosts bucket_costs(const BucketCost& bucket) {
  return {.chunks = {{.forward_seconds = 1,
                      .backward_input_seconds = 5,
                      .backward_weight_seconds = 5,
                      .buckets = {bucket, bucket}}}};
}

TEST(Simulator, ExchangesRunBesideTheBackwardAndFoldsWaitForThem) {
  const Schedule schedule = make_1f1b(pipeline({.stages = 1, .micro_batches = 1, .num_buckets = 2}));
  const PipelineCosts costs =
      bucket_costs({.reduce_seconds = 7, .fold_seconds = 1, .update_seconds = 2, .gather_seconds = 3});
  const Simulation simulation = simulate(schedule, costs);
  const auto span = [&](Op op, std::int64_t bucket) {
    return simulation.spans[0][index_of(schedule[0], {op, -1, bucket})];
  };
  EXPECT_EQ(span(Op::kReduceBucket, 1).end_seconds, 6);  // 1 + 5
  EXPECT_EQ(span(Op::kReduceBucket, 0).end_seconds, 11);
  EXPECT_EQ(span(Op::kFoldBucket, 1).ready_seconds, 13);  // 6 + 7: two beyond the other bucket's backward
  EXPECT_EQ(span(Op::kUpdateBucket, 1).end_seconds, 16);
  EXPECT_EQ(span(Op::kFoldBucket, 0).ready_seconds, 20);  // the second exchange follows the first: 13 + 7
  EXPECT_EQ(span(Op::kUpdateBucket, 0).end_seconds, 23);
  EXPECT_EQ(span(Op::kGatherBucket, 1).end_seconds, 23);  // begun at 20, when the wire is free: over at 23
  EXPECT_EQ(span(Op::kGatherBucket, 0).end_seconds, 26);
  EXPECT_EQ(simulation.stages[0].busy_seconds, 1 + 10 + 2 * 3);
  EXPECT_EQ(simulation.stages[0].communication_seconds, 2 + 4 + 3);
  EXPECT_EQ(simulation.stages[0].bubble_seconds, 0);
}

TEST(Simulator, BucketsTakeTheirShareOfABackward) {
  for (const ScheduleKind kind : {ScheduleKind::k1F1B, ScheduleKind::kZeroBubble}) {
    const Schedule schedule = make_schedule(kind, pipeline({.stages = 1, .micro_batches = 1, .num_buckets = 2}));
    PipelineCosts costs = bucket_costs({});
    costs.chunks[0].buckets[1].share = 4;
    const bool splits = kind == ScheduleKind::kZeroBubble;
    const Op op = splits ? Op::kBackwardWeight : Op::kBackward;
    const Simulation simulation = simulate(schedule, costs);
    const Span span = simulation.spans[0][index_of(schedule[0], {op, 0, 1})];
    EXPECT_EQ(span.end_seconds - span.ready_seconds, splits ? 4 : 8);
    EXPECT_EQ(simulation.step_seconds, 11);
  }
}

TEST(Simulator, AJointBackwardMayHaveItsOwnTime) {
  const Schedule schedule = make_1f1b(pipeline({.stages = 1, .micro_batches = 4}));
  EXPECT_EQ(simulate(schedule, equal_costs(schedule, kUnit)).step_seconds, 36);
  ChunkCost cost = kUnit;
  cost.backward_seconds = 5;
  EXPECT_EQ(simulate(schedule, equal_costs(schedule, cost)).step_seconds, 32);
}

TEST(Simulator, LoadsAndLossesKeepTheStageBusy) {
  const Schedule schedule = make_evaluation(pipeline({.stages = 2, .micro_batches = 1}));
  const ChunkCost cost{.load_seconds = 1, .forward_seconds = 10, .loss_seconds = 1000};
  const Simulation simulation = simulate(schedule, equal_costs(schedule, cost));
  EXPECT_EQ(simulation.stages[0].busy_seconds, 11);
  EXPECT_EQ(simulation.stages[1].busy_seconds, 1011);
  EXPECT_EQ(simulation.step_seconds, 1021);
}

TEST(Simulator, AllStagesAgreeWhenTheLastHasCome) {
  PipelineSpec spec = pipeline({.stages = 3, .micro_batches = 2});
  spec.agree_on_update = true;
  const Schedule schedule = make_1f1b(spec);
  PipelineCosts costs = equal_costs(schedule, kUnit);
  costs.agree_seconds = 5;
  const Simulation simulation = simulate(schedule, costs);
  for (std::size_t s = 0; s < 3; ++s) {
    const Span span = simulation.spans[s][index_of(schedule[s], {Op::kAgreeOnUpdate})];
    EXPECT_EQ(span.ready_seconds, (2 + 2) * 9 + 5);  // stage 0 ends last
    EXPECT_EQ(simulation.stages[s].communication_seconds, 5);
  }
}

TEST(Simulator, DividesIdleTimeIntoBubbleAndCommunication) {
  // Stage 1 waits for Forward 0 until 4, then for the message until 9.
  const Schedule schedule = make_evaluation(pipeline({.stages = 2, .micro_batches = 1}));
  const Simulation simulation =
      simulate(schedule, equal_costs(schedule, {.forward_seconds = 4, .to_next = transfer(5)}));
  EXPECT_EQ(simulation.stages[1].bubble_seconds, 4);
  EXPECT_EQ(simulation.stages[1].communication_seconds, 5);
  EXPECT_EQ(simulation.stages[1].busy_seconds, 4);
  EXPECT_EQ(simulation.stages[0].busy_seconds, 4);
  EXPECT_EQ(simulation.stages[0].bubble_seconds, 9);  // idle at the end
  EXPECT_EQ(simulation.bubble, 1 - 8.0 / 26);
}

TEST(Simulator, TimesOfAStageAddUpToTheStep) {
  std::mt19937 engine(4);
  for (const bool zero_buffering : {false, true}) {
    for (const ScheduleKind kind : {ScheduleKind::kGpipe, ScheduleKind::kInterleaved, ScheduleKind::kZeroBubble}) {
      const std::int64_t chunks = kind == ScheduleKind::kInterleaved ? 3 : 1;
      const PipelineSpec spec = pipeline({.stages = 5, .micro_batches = 13, .num_buckets = 1, .chunks = chunks});
      PipelineCosts costs = uneven_costs(spec.virtual_stages(), engine);
      for (ChunkCost& cost : costs.chunks)
        cost.buckets = {{.reduce_seconds = 30, .fold_seconds = 1, .update_seconds = 2, .gather_seconds = 20}};
      const Simulation simulation = simulate(make_schedule(kind, spec), costs, {.zero_buffering = zero_buffering});
      for (const StageTimes& times : simulation.stages) {
        EXPECT_GE(times.bubble_seconds, 0);
        EXPECT_GT(times.communication_seconds, 0);
        // The times are quarters and whole numbers, so sums are exact.
        EXPECT_EQ(times.busy_seconds + times.bubble_seconds + times.communication_seconds, simulation.step_seconds);
      }
    }
  }
}

}  // namespace
}  // namespace convoy
