/// Tests that the simulator finds the fault of a broken schedule, and names the stages that wait for each other.
#include <algorithm>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/schedule/simulator.h"

#include "unit/messages.h"
#include "unit/schedule/draw.h"
#include "unit/schedule/simulated_pipeline.h"

namespace convoy {
namespace {

using test::message_of;
using testing::equal_costs;
using testing::index_of;
using testing::kUnit;
using testing::kZeroBuffering;
using testing::pipeline;

std::string error_of(const Schedule& schedule, bool zero_buffering) {
  return message_of<Error>(
      [&] { simulate(schedule, equal_costs(schedule, kUnit), {.zero_buffering = zero_buffering}); });
}

TEST(Simulator, ReportsSwappedReceives) {
  Schedule schedule = make_gpipe(pipeline({.stages = 2, .micro_batches = 3}));
  std::swap(schedule[1][index_of(schedule[1], {Op::kRecvActivation, 1})],
            schedule[1][index_of(schedule[1], {Op::kRecvActivation, 2})]);
  for (const bool zero_buffering : {false, true}) {
    EXPECT_EQ(
        error_of(schedule, zero_buffering),
        "Stage 0 comes to SendActivation 1 where stage 1 comes to RecvActivation 2: sends and receives must match "
        "in order.");
  }
}

TEST(Simulator, ReportsAMissingSend) {
  Schedule schedule = make_1f1b(pipeline({.stages = 2, .micro_batches = 2}));
  std::erase(schedule[1], Instruction{Op::kSendGradient, 1});
  EXPECT_EQ(
      error_of(schedule, false),
      "The schedule deadlocks: stage 0 at RecvGradient 1 waits for SendGradient 1 of stage 1, whose list has none.");
}

TEST(Simulator, ReportsAMissingReceive) {
  Schedule schedule = make_1f1b(pipeline({.stages = 2, .micro_batches = 2}));
  std::erase(schedule[0], Instruction{Op::kRecvGradient, 1});
  EXPECT_EQ(error_of(schedule, false), "Stage 0 never receives SendGradient 1 of stage 1.");
}

TEST(Simulator, ReportsWhoWaitsForWhom) {
  // Stage 0 waits for the gradient of an activation before it sends that activation.
  Schedule schedule = make_gpipe(pipeline({.stages = 2, .micro_batches = 1}));
  StageProgram& first = schedule[0];
  const Instruction gradient{Op::kRecvGradient, 0};
  std::erase(first, gradient);
  first.insert(first.begin(), gradient);
  EXPECT_EQ(error_of(schedule, false),
            "The schedule deadlocks: stage 0 at RecvGradient 0 waits for SendGradient 0 of stage 1; stage 1 at "
            "RecvActivation 0 waits for SendActivation 0 of stage 0.");
}

TEST(Simulator, ReportsADeadlockThatOnlyBuffersHide) {
  // Stage 1 sends five gradients before the activation that stage 0 needs before it uses the first gradient. Two
  // gradients fill stage 0's buffers, and two stay in stage 1's.
  Schedule schedule = {{{Op::kRecvActivation, 0, kAllBuckets, 1}}, {}};
  for (std::int64_t m = 0; m < 5; ++m) {
    schedule[0].insert(schedule[0].end(), {{Op::kRecvGradient, m}, {Op::kBackward, m}});
    schedule[1].insert(schedule[1].end(), {{Op::kBackward, m}, {Op::kSendGradient, m}});
  }
  schedule[1].push_back({Op::kSendActivation, 0});
  const PipelineCosts costs = equal_costs(schedule, kUnit, 2);
  EXPECT_NO_THROW(simulate(schedule, costs));
  EXPECT_EQ(message_of<Error>([&] { simulate(schedule, costs, kZeroBuffering); }),
            "The schedule deadlocks without buffering: stage 0 at RecvActivation 0 chunk 1 waits for "
            "SendActivation 0 of stage 1; stage 1 at Backward 4 waits for its SendGradient 2 to leave, for which "
            "stage 0 has no buffer yet.");
}

TEST(Simulator, ReportsAListThatWaitsForItsOwnBuffer) {
  // Stage 0 receives all three gradients before it uses the first, but has only two buffers.
  Schedule schedule = make_gpipe(pipeline({.stages = 2, .micro_batches = 3}));
  StageProgram& first = schedule[0];
  std::stable_partition(first.begin() + static_cast<std::ptrdiff_t>(index_of(first, {Op::kRecvGradient, 0})),
                        first.end(), [](const Instruction& i) { return i.op == Op::kRecvGradient; });
  EXPECT_EQ(error_of(schedule, false),
            "RecvGradient 2 waits for a gradient buffer that is held until a later backward.");
}

TEST(Simulator, ReportsAFoldBeforeItsReduction) {
  Schedule schedule = make_1f1b(pipeline({.stages = 1, .micro_batches = 1}));
  std::erase(schedule[0], Instruction{Op::kReduceBucket, -1, 0});
  EXPECT_EQ(error_of(schedule, false), "FoldBucket 0 comes before its ReduceBucket.");
}

TEST(Simulator, ReportsAStageThatDoesNotAgree) {
  PipelineSpec spec = pipeline({.stages = 2, .micro_batches = 1});
  spec.agree_on_update = true;
  Schedule schedule = make_1f1b(spec);
  std::erase(schedule[0], Instruction{Op::kAgreeOnUpdate});
  EXPECT_EQ(error_of(schedule, false), "The schedule deadlocks: stage 1 at AgreeOnUpdate waits for the other stages.");
}

TEST(Simulator, ReportsSendsToNobody) {
  EXPECT_EQ(error_of({{{Op::kSendActivation, 0}}}, false),
            "SendActivation 0 needs a neighbour that the stage does not have.");
  EXPECT_EQ(error_of({{{Op::kRecvActivation, 0}}}, false),
            "RecvActivation 0 needs a neighbour that the stage does not have.");
}

TEST(Simulator, RefusesCostsOfAnotherPipeline) {
  const Schedule two = make_naive(pipeline({.stages = 2, .micro_batches = 1}));
  EXPECT_THROW(simulate(two, {.chunks = {kUnit}}), Error);
  EXPECT_THROW(simulate(two, PipelineCosts{}), Error);
  EXPECT_THROW(simulate({}, {.chunks = {kUnit}}), Error);
  const PipelineSpec spec = pipeline({.stages = 2, .micro_batches = 2, .chunks = 2});
  EXPECT_THROW(simulate(make_interleaved(spec), {.chunks = {kUnit, kUnit}}), Error);
  ChunkCost cost = kUnit;
  cost.buckets.resize(3);
  EXPECT_THROW(simulate(two, {.chunks = {cost, cost}}), Error);
}

}  // namespace
}  // namespace convoy
