/// Tests which schedule schedule.kind = auto chooses.
#include "calibrate/run_layout.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "convoy/params/parameters.h"
#include "convoy/schedule/schedule.h"

#include "plan/planner.h"

namespace convoy {
namespace {

RuntimeSpec runtime(std::int64_t global = 8) {
  return {.network = {.name = "resnet20",
                      .input = ImageShape{.h = 32, .w = 32, .c = 3},
                      .micro_batch = 2,
                      .num_classes = 10},
          .batch = {.global = global, .micro = 2}};
}

RuntimeSpec chosen(const Parameters& params, const GridShape& grid, RuntimeSpec spec = runtime()) {
  choose_schedule(params, grid, spec);
  return spec;
}

double step_seconds(RuntimeSpec spec, ScheduleKind schedule) {
  spec.schedule = schedule;
  spec.chunks = traits_of(schedule).has_chunks ? 2 : 1;
  return predict_step(StepPlan(spec, {.stages = 2})).step_seconds;
}

// The costs are those of a modelled machine.
TEST(AutomaticSchedule, IsTheOneWithTheShortestPredictedStep) {
  Parameters params;
  ASSERT_FALSE(params.schedule.kind) << "auto is the default";
  const RuntimeSpec spec = chosen(params, {.stages = 2});
  EXPECT_NE(spec.schedule, ScheduleKind::k1F1B);
  for (const ScheduleKind schedule : all_schedules())
    EXPECT_GE(step_seconds(spec, schedule), step_seconds(spec, spec.schedule)) << name_of(schedule);
}

// With more micro-batches the bubble is smaller, and so is the gain of another schedule.
TEST(AutomaticSchedule, IsNoOtherForASmallGain) {
  const RuntimeSpec spec = chosen({}, {.stages = 2}, runtime(16));
  EXPECT_EQ(spec.schedule, ScheduleKind::k1F1B);
  EXPECT_LT(step_seconds(spec, ScheduleKind::kZeroBubble), step_seconds(spec, ScheduleKind::k1F1B));
}

TEST(AutomaticSchedule, OfCutsByHandIsOneThatTheyFit) {
  RuntimeSpec by_hand = runtime();
  by_hand.cuts = {5};
  EXPECT_EQ(chosen({}, {.stages = 2}, by_hand).chunks, 1) << "interleaved would need three cuts";
}

TEST(AutomaticSchedule, OfOneStageOrOfALayoutThatCannotBeIs1f1b) {
  EXPECT_EQ(chosen({}, {.stages = 1, .replicas = 4}).schedule, ScheduleKind::k1F1B);
  EXPECT_EQ(chosen({}, {.stages = 64}).schedule, ScheduleKind::k1F1B) << "more stages than cells";
}

std::int64_t memory_of(RuntimeSpec spec, ScheduleKind schedule, std::int64_t chunks) {
  spec.schedule = schedule;
  spec.chunks = chunks;
  const StepPlan plan(spec, {.stages = 2});
  return std::max(plan.memory_of(0).total(), plan.memory_of(1).total());
}

TEST(AutomaticSchedule, TakesAtMostHalfMoreMemory) {
  Parameters params;
  params.schedule.chunks = 4;
  RuntimeSpec spec = runtime(64);
  spec.network.input = ImageShape{.h = 64, .w = 64, .c = 3};
  const std::int64_t usual = memory_of(spec, ScheduleKind::k1F1B, 1);
  EXPECT_GT(2 * memory_of(spec, ScheduleKind::kInterleaved, 4), 3 * usual) << "nothing is tested";
  const RuntimeSpec taken = chosen(params, {.stages = 2}, spec);
  EXPECT_LE(2 * memory_of(spec, taken.schedule, taken.chunks), 3 * usual) << name_of(taken.schedule);
}

TEST(AutomaticSchedule, IsNotAskedWhereOneIsGiven) {
  Parameters params;
  params.schedule.kind = ScheduleKind::kGpipe;
  RuntimeSpec spec = runtime();
  spec.schedule = ScheduleKind::kGpipe;
  EXPECT_EQ(chosen(params, {.stages = 2}, spec).schedule, ScheduleKind::kGpipe);
}

}  // namespace
}  // namespace convoy
