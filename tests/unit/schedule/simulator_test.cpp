/// Simulated time against what can be worked out by hand; no deadlock in any schedule; and broken schedules are found.
#include "convoy/schedule/simulator.h"

#include <algorithm>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "unit/schedule/draw.h"

namespace convoy {
namespace {

using testing::equal_costs;
using testing::pipeline;

constexpr std::int64_t kMostStages = 8, kMostMicroBatches = 32;
constexpr ScheduleKind kKinds[] = {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B};

/// Forward 1, backward 2, in units of 3 so that a third of a backward is a whole number and all sums are exact.
constexpr StageCost kUnit{.forward_seconds = 3, .backward_seconds = 6, .transfer_seconds = 0};

template <typename Check>
void for_each_pipeline(const Check& check) {
  for (std::int64_t p = 1; p <= kMostStages; ++p) {
    for (std::int64_t m = 1; m <= kMostMicroBatches; ++m) {
      for (const std::int64_t buckets : {1, 3}) {
        SCOPED_TRACE(fmt::format("{} stages, {} micro-batches, {} buckets", p, m, buckets));
        check(pipeline(p, m, buckets));
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

/// Costs that differ from stage to stage, transfers as long as the computing.
std::vector<StageCost> uneven_costs(std::int64_t stages, std::mt19937& engine) {
  std::uniform_real_distribution<double> seconds(0.0, 2.0);
  std::vector<StageCost> costs(static_cast<std::size_t>(stages));
  for (StageCost& cost : costs) cost = {seconds(engine), seconds(engine), seconds(engine)};
  return costs;
}

std::string error_of(const Schedule& schedule, bool zero_buffering) {
  try {
    simulate(schedule, equal_costs(schedule, kUnit), zero_buffering);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::size_t place_of(const StageProgram& program, const Instruction& instruction) {
  const auto found = std::find(program.begin(), program.end(), instruction);
  EXPECT_NE(found, program.end());
  return static_cast<std::size_t>(found - program.begin());
}

TEST(Simulator, NoScheduleDeadlocksWithOrWithoutBuffering) {
  std::mt19937 engine(1);
  for_each_pipeline([&](const PipelineSpec& spec) {
    for (const ScheduleKind kind : kKinds) {
      const Schedule schedule = make_schedule(kind, spec);
      const auto costs = uneven_costs(spec.stages, engine);
      double buffered = 0, unbuffered = 0;
      ASSERT_NO_THROW(buffered = simulate(schedule, costs).step_seconds);
      ASSERT_NO_THROW(unbuffered = simulate(schedule, costs, true).step_seconds);
      EXPECT_GE(unbuffered, buffered);  // every time is a max over the same sums and more
    }
    ASSERT_NO_THROW(simulate(make_evaluation(spec), uneven_costs(spec.stages, engine), true));
  });
}

TEST(Simulator, RunsEveryInstructionInOrderWithoutGaps) {
  std::mt19937 engine(2);
  for (const ScheduleKind kind : kKinds) {
    const Schedule schedule = make_schedule(kind, pipeline(4, 6, 3));
    const Simulation simulation = simulate(schedule, uneven_costs(4, engine), true);
    for (std::size_t s = 0; s < schedule.size(); ++s) {
      ASSERT_EQ(simulation.stages[s].size(), schedule[s].size());
      double clock = 0;
      for (std::size_t i = 0; i < schedule[s].size(); ++i) {
        const Span& span = simulation.stages[s][i];
        EXPECT_EQ(span.instruction, schedule[s][i]);
        EXPECT_EQ(span.begin_seconds, clock);
        EXPECT_GE(span.end_seconds, span.begin_seconds);
        clock = span.end_seconds;
      }
      EXPECT_LE(clock, simulation.step_seconds);
    }
  }
}

// Bubble: one subtraction of a quotient of exact whole numbers, against one quotient or another such subtraction: each
// rounds by at most half an epsilon of a number of at most 1, so two epsilons bound the difference.
constexpr double kBubbleTolerance = 2 * std::numeric_limits<double>::epsilon();

TEST(Simulator, BubbleOfGpipeAnd1F1BIsStagesLessOneOverAllSlots) {
  for_each_pipeline([](const PipelineSpec& spec) {
    const auto p = static_cast<double>(spec.stages), m = static_cast<double>(spec.micro_batches);
    for (const ScheduleKind kind : {ScheduleKind::kGpipe, ScheduleKind::k1F1B}) {
      for (const bool zero_buffering : {false, true}) {  // nothing to wait for where transfers take no time
        const Schedule schedule = make_schedule(kind, spec);
        const Simulation simulation = simulate(schedule, equal_costs(schedule, kUnit), zero_buffering);
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

TEST(Simulator, TransfersDelayTheReceiverButDoNotOccupyTheSender) {
  const Schedule schedule = make_gpipe(pipeline(2, 2));
  const std::vector<StageCost> costs(2, {.forward_seconds = 1, .backward_seconds = 2, .transfer_seconds = 10});
  const Simulation simulation = simulate(schedule, costs);
  const auto forward_end = [&](std::size_t s, std::int64_t m) {
    return simulation.stages[s][place_of(schedule[s], {Op::kForward, m})].end_seconds;
  };
  EXPECT_EQ(forward_end(0, 0), 1);
  EXPECT_EQ(forward_end(0, 1), 2);   // while activation 0 travels
  EXPECT_EQ(forward_end(1, 0), 12);  // 1 + 10 + 1
  EXPECT_EQ(forward_end(1, 1), 22);  // activation 1 follows activation 0 on the same wire: 1 + 10 + 10 + 1
}

TEST(Simulator, WithoutBufferingAMessageLeavesOnceItsReceiveIsPosted) {
  // Stage 1 has one slot, and computes Forward 0 from 3 to 8. With buffers activation 1 follows activation 0 and is
  // there at 3 + 2 = 5, before it is asked for; without, it leaves when the slot is released: 8 + 2.
  const Schedule schedule = make_evaluation(pipeline(2, 2));
  const std::vector<StageCost> costs = {{.forward_seconds = 1, .backward_seconds = 0, .transfer_seconds = 2},
                                        {.forward_seconds = 5, .backward_seconds = 0, .transfer_seconds = 0}};
  const std::size_t receive = place_of(schedule[1], {Op::kRecvActivation, 1});
  EXPECT_EQ(simulate(schedule, costs, false).stages[1][receive].end_seconds, 8);
  EXPECT_EQ(simulate(schedule, costs, true).stages[1][receive].end_seconds, 10);
}

TEST(Simulator, WithoutBufferingASlotIsNotReusedBeforeItsSendHasLeft) {
  // One slot in stage 0: input 1 may not overwrite activation 0 before that has left, at 1 + 10.
  const Schedule schedule = make_evaluation(pipeline(2, 2));
  const std::vector<StageCost> costs(2, {.forward_seconds = 1, .backward_seconds = 0, .transfer_seconds = 10});
  const std::size_t load = place_of(schedule[0], {Op::kLoadInput, 1});
  EXPECT_EQ(simulate(schedule, costs, false).stages[0][load].end_seconds, 1);
  EXPECT_EQ(simulate(schedule, costs, true).stages[0][load].end_seconds, 11);
}

TEST(Simulator, WithoutBufferingAReceiveIsNotPostedInTheMidstOfComputing) {
  // Stage 1 has one slot; gradient 0 leaves it from 1 to 2, within Forward 7, 1 to 6. So activation 1 leaves at 6.
  const Schedule schedule = {
      {{Op::kLoadInput, 0},
       {Op::kSendActivation, 0},
       {Op::kLoadInput, 1},
       {Op::kSendActivation, 1},
       {Op::kRecvGradient, 0}},
      {{Op::kRecvActivation, 0}, {Op::kLoss, 0}, {Op::kSendGradient, 0}, {Op::kForward, 7}, {Op::kRecvActivation, 1}},
  };
  const std::vector<StageCost> costs(2, {.forward_seconds = 5, .backward_seconds = 0, .transfer_seconds = 1});
  EXPECT_EQ(simulate(schedule, costs, false).stages[1].back().end_seconds, 6);
  EXPECT_EQ(simulate(schedule, costs, true).stages[1].back().end_seconds, 7);
}

TEST(Simulator, ReportsSwappedReceives) {
  Schedule schedule = make_gpipe(pipeline(2, 3));
  std::swap(schedule[1][place_of(schedule[1], {Op::kRecvActivation, 1})],
            schedule[1][place_of(schedule[1], {Op::kRecvActivation, 2})]);
  for (const bool zero_buffering : {false, true}) {
    EXPECT_EQ(
        error_of(schedule, zero_buffering),
        "Stage 0 comes to SendActivation 1 where stage 1 comes to RecvActivation 2: sends and receives must match "
        "in order.");
  }
}

TEST(Simulator, ReportsAMissingSend) {
  Schedule schedule = make_1f1b(pipeline(2, 2));
  std::erase(schedule[1], Instruction{Op::kSendGradient, 1});
  EXPECT_EQ(
      error_of(schedule, false),
      "The schedule deadlocks: stage 0 at RecvGradient 1 waits for SendGradient 1 of stage 1, whose list has none.");
}

TEST(Simulator, ReportsAMissingReceive) {
  Schedule schedule = make_1f1b(pipeline(2, 2));
  std::erase(schedule[0], Instruction{Op::kRecvGradient, 1});
  EXPECT_EQ(error_of(schedule, false), "Stage 0 never receives SendGradient 1 of stage 1.");
}

TEST(Simulator, ReportsWhoWaitsForWhom) {
  // Stage 0 waits for the gradient before it sends the activation that the gradient is of.
  Schedule schedule = make_gpipe(pipeline(2, 1));
  StageProgram& first = schedule[0];
  const Instruction gradient{Op::kRecvGradient, 0};
  std::erase(first, gradient);
  first.insert(first.begin(), gradient);
  EXPECT_EQ(error_of(schedule, false),
            "The schedule deadlocks: stage 0 at RecvGradient 0 waits for SendGradient 0 of stage 1; stage 1 at "
            "RecvActivation 0 waits for SendActivation 0 of stage 0.");
}

TEST(Simulator, ReportsADeadlockThatOnlyBuffersHide) {
  // Stage 0 asks for all three gradients before it uses the first: one more than it has buffers for.
  Schedule schedule = make_gpipe(pipeline(2, 3));
  StageProgram& first = schedule[0];
  std::stable_partition(first.begin() + static_cast<std::ptrdiff_t>(place_of(first, {Op::kRecvGradient, 0})),
                        first.end(), [](const Instruction& i) { return i.op == Op::kRecvGradient; });
  EXPECT_EQ(error_of(schedule, false), "");
  EXPECT_EQ(
      error_of(schedule, true),
      "The schedule deadlocks without buffering: stage 0 at RecvGradient 2 waits for a gradient buffer, held until a "
      "later Backward.");
}

TEST(Simulator, ReportsSlotsThatAreNotReleasedInOrder) {
  // Stage 1 keeps micro-batch 0 to the end: 2 in flight, and the third wants the slot of the first.
  const Schedule schedule = {
      {{Op::kLoadInput, 0},
       {Op::kSendActivation, 0},
       {Op::kLoadInput, 1},
       {Op::kSendActivation, 1},
       {Op::kLoadInput, 2},
       {Op::kSendActivation, 2},
       {Op::kLoadInput, 3},
       {Op::kSendActivation, 3}},
      {{Op::kRecvActivation, 0},
       {Op::kRecvActivation, 1},
       {Op::kLoss, 1},
       {Op::kRecvActivation, 2},
       {Op::kLoss, 2},
       {Op::kRecvActivation, 3},
       {Op::kLoss, 3},
       {Op::kLoss, 0}},
  };
  EXPECT_EQ(error_of(schedule, false), "");
  EXPECT_EQ(
      error_of(schedule, true),
      "The schedule deadlocks without buffering: stage 0 at LoadInput 3 waits for the slot of micro-batch 2, which is "
      "still being sent; stage 1 at RecvActivation 2 waits for the slot that micro-batch 0 holds.");
}

TEST(Simulator, ReportsSendsToNobody) {
  EXPECT_EQ(error_of({{{Op::kSendActivation, 0}}}, false),
            "SendActivation 0 needs a neighbour that the stage does not have.");
  EXPECT_EQ(error_of({{{Op::kRecvActivation, 0}}}, false),
            "RecvActivation 0 needs a neighbour that the stage does not have.");
}

TEST(Simulator, RefusesCostsOfAnotherPipeline) {
  EXPECT_THROW(simulate(make_naive(pipeline(2, 1)), {kUnit}), Error);
}

}  // namespace
}  // namespace convoy
