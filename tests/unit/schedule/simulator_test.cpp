/// Simulated time against what can be worked out by hand, and broken schedules are found.
#include "convoy/schedule/simulator.h"

#include <algorithm>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/schedule/bound_program.h"

#include "unit/schedule/draw.h"

namespace convoy {
namespace {

using testing::equal_costs;
using testing::pipeline;
using testing::uneven_costs;

constexpr std::int64_t kMostStages = 8, kMostMicroBatches = 32;
constexpr SimulationOptions kZeroBuffering{.zero_buffering = true};

/// Forward 1, backward 2, in units of 3 so that a third of a backward is a whole number and all sums are exact.
const ChunkCost kUnit{.forward_seconds = 3, .backward_input_seconds = 3, .backward_weight_seconds = 3};

/// A transfer that takes that long.
TransferCost transfer(std::int64_t seconds) {
  return {.size_bytes = seconds, .bytes_per_second = 1};
}

template <typename Check>
void for_each_pipeline(const Check& check) {
  for (std::int64_t p = 1; p <= kMostStages; ++p) {
    for (std::int64_t m = 1; m <= kMostMicroBatches; ++m) {
      for (const std::int64_t buckets : {1, 3}) {
        SCOPED_TRACE(fmt::format("{} stages, {} micro-batches, {} buckets", p, m, buckets));
        check(pipeline({.stages = p, .micro_batches = m, .num_buckets = buckets}));
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

std::string error_of(const Schedule& schedule, bool zero_buffering) {
  try {
    simulate(schedule, equal_costs(schedule, kUnit), {.zero_buffering = zero_buffering});
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

// Bubble: one subtraction of a quotient of exact whole numbers, against one quotient or another such subtraction: each
// rounds by at most half an epsilon of a number of at most 1, so two epsilons bound the difference.
constexpr double kBubbleTolerance = 2 * std::numeric_limits<double>::epsilon();

TEST(Simulator, TakesTheWorkOfEachInstruction) {
  const Schedule schedule = {{{Op::kLoadInput, 0}, {Op::kForward, 0}, {Op::kSendActivation, 0}},
                             {{Op::kRecvActivation, 0}, {Op::kForward, 0}}};
  const Simulation simulation = simulate(schedule, std::vector<WorkSeconds>{{1, 2, 4}, {8, 16}});
  EXPECT_EQ(simulation.spans[0].back().end_seconds, 7);
  EXPECT_EQ(simulation.spans[1].front().end_seconds, 15) << "has left at 7, is unpacked for 8";
  EXPECT_EQ(simulation.step_seconds, 31);
  EXPECT_THROW(simulate(schedule, std::vector<WorkSeconds>{{1, 2, 4}, {8}}), Error);
}

TEST(Simulator, BubbleOfGpipeAnd1F1BIsStagesLessOneOverAllSlots) {
  for_each_pipeline([](const PipelineSpec& spec) {
    const auto p = static_cast<double>(spec.stages), m = static_cast<double>(spec.micro_batches);
    for (const ScheduleKind kind : {ScheduleKind::kGpipe, ScheduleKind::k1F1B}) {
      for (const bool zero_buffering : {false, true}) {  // nothing to wait for where transfers take no time
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

TEST(Simulator, TransfersDelayTheReceiverButDoNotOccupyTheSender) {
  const Schedule schedule = make_gpipe(pipeline({.stages = 2, .micro_batches = 2}));
  const Simulation simulation =
      simulate(schedule, equal_costs(schedule, {.forward_seconds = 1, .behind = transfer(10)}));
  const auto forward_end = [&](std::size_t s, std::int64_t m) {
    return simulation.spans[s][place_of(schedule[s], {Op::kForward, m})].end_seconds;
  };
  EXPECT_EQ(forward_end(0, 0), 1);
  EXPECT_EQ(forward_end(0, 1), 2);   // while activation 0 travels
  EXPECT_EQ(forward_end(1, 0), 12);  // 1 + 10 + 1
  EXPECT_EQ(forward_end(1, 1), 22);  // activation 1 follows activation 0 on the same wire: 1 + 10 + 10 + 1
}

TEST(Simulator, LatencyDoesNotHoldTheWire) {
  const Schedule schedule = make_gpipe(pipeline({.stages = 2, .micro_batches = 2}));
  const TransferCost behind{.latency_seconds = 4, .size_bytes = 12, .bytes_per_second = 2};
  const Simulation simulation = simulate(schedule, equal_costs(schedule, {.forward_seconds = 1, .behind = behind}));
  const auto arrival = [&](std::int64_t m) {
    return simulation.spans[1][place_of(schedule[1], {Op::kRecvActivation, m})].end_seconds;
  };
  EXPECT_EQ(arrival(0), 11);  // 1 + 12/2 + 4
  EXPECT_EQ(arrival(1), 17);  // on the wire from 7 to 13, then 4
}

TEST(Simulator, ChunksShareTheWireBetweenTwoStages) {
  // Stage 0 sends its two chunks' activations at 0: the second is on the wire after the first.
  const Schedule schedule = {
      {{Op::kLoadInput, 0},
       {Op::kSendActivation, 0},
       {Op::kRecvActivation, 0, kAllBuckets, 1},
       {Op::kSendActivation, 0, kAllBuckets, 1}},
      {{Op::kRecvActivation, 0},
       {Op::kSendActivation, 0},
       {Op::kRecvActivation, 0, kAllBuckets, 1},
       {Op::kLoss, 0, kAllBuckets, 1}},
  };
  PipelineCosts costs = equal_costs(schedule, {}, 2);
  costs.chunks[0].behind = transfer(5);
  costs.chunks[1].behind = transfer(1);  // back to stage 0
  costs.chunks[2].behind = transfer(5);
  EXPECT_EQ(simulate(schedule, costs).step_seconds, 11);
  // With a second micro-batch right behind the first, chunk 1's first activation, ready at 6, waits for it until 10.
  Schedule longer = schedule;
  longer[0].insert(longer[0].begin() + 2, {{Op::kLoadInput, 1}, {Op::kSendActivation, 1}});
  longer[1].insert(longer[1].begin() + 2, {Op::kRecvActivation, 1});
  longer[1].push_back({Op::kLoss, 1});
  std::swap(longer[1][2], longer[1][3]);
  EXPECT_EQ(simulate(longer, costs).step_seconds, 15);
}

TEST(Simulator, WithoutBufferingAMessageLeavesOnceItsReceiveIsPosted) {
  // Stage 1 has one slot, and computes Forward 0 from 3 to 8. With buffers activation 1 follows activation 0 and is
  // there at 3 + 2 = 5, before it is asked for; without, it leaves when the slot is released: 8 + 2.
  const Schedule schedule = make_evaluation(pipeline({.stages = 2, .micro_batches = 2}));
  const PipelineCosts costs{.chunks = {{.forward_seconds = 1, .behind = transfer(2)}, {.forward_seconds = 5}}};
  const std::size_t receive = place_of(schedule[1], {Op::kRecvActivation, 1});
  EXPECT_EQ(simulate(schedule, costs).spans[1][receive].end_seconds, 8);
  EXPECT_EQ(simulate(schedule, costs, kZeroBuffering).spans[1][receive].end_seconds, 10);
}

TEST(Simulator, AFrameIsNotWrittenAgainBeforeItsActivationHasLeft) {
  // One slot in stage 0: Forward 1 may not overwrite activation 0 before that has left, at 1 + 10. Its latency is none
  // of the sender's business.
  const Schedule schedule = make_evaluation(pipeline({.stages = 2, .micro_batches = 2}));
  ChunkCost cost{.forward_seconds = 1, .behind = transfer(10)};
  cost.behind.latency_seconds = 100;
  const std::size_t forward = place_of(schedule[0], {Op::kForward, 1});
  const Span span = simulate(schedule, equal_costs(schedule, cost)).spans[0][forward];
  EXPECT_EQ(span.begin_seconds, 1);
  EXPECT_EQ(span.ready_seconds, 11);
  EXPECT_EQ(span.end_seconds, 12);
}

TEST(Simulator, ABackwardWaitsUntilItsBufferForTheGradientHasLeft) {
  // Gradients take 10, backwards 1: the third is written into the buffer of the first, which has left at 1 + 10.
  const Schedule schedule = make_gpipe(pipeline({.stages = 2, .micro_batches = 4}));
  PipelineCosts costs = equal_costs(schedule, {.backward_input_seconds = 1});
  costs.chunks[0].behind = transfer(10);
  const Simulation simulation = simulate(schedule, costs);
  const auto backward = [&](std::int64_t m) { return simulation.spans[1][place_of(schedule[1], {Op::kBackward, m})]; };
  const double all_arrived = 40;
  EXPECT_EQ(backward(0).ready_seconds, all_arrived);
  EXPECT_EQ(backward(1).ready_seconds, all_arrived + 1);
  EXPECT_EQ(backward(2).begin_seconds, all_arrived + 2);
  EXPECT_EQ(backward(2).ready_seconds, all_arrived + 11);
}

TEST(Simulator, WithoutBufferingAReceiveIsNotPostedInTheMidstOfComputing) {
  // Stage 1 has one slot; its micro-batch 0 is released within the list before Forward 7, which takes from 1 to 6, but
  // activation 1 is posted at Forward 7's begin. Were it only released there, it would leave at its end.
  const auto arrival = [](bool released_before) {
    StageProgram second = {{Op::kRecvActivation, 0}, {Op::kForward, 7}, {Op::kRecvActivation, 1}};
    second.insert(second.begin() + (released_before ? 1 : 2), {Op::kLoss, 0});
    const Schedule schedule = {
        {{Op::kLoadInput, 0}, {Op::kSendActivation, 0}, {Op::kLoadInput, 1}, {Op::kSendActivation, 1}}, second};
    PipelineCosts costs = equal_costs(schedule, {.forward_seconds = 5});
    costs.chunks[0].behind = transfer(1);
    return simulate(schedule, costs, kZeroBuffering).spans[1].back().end_seconds;
  };
  EXPECT_EQ(arrival(true), 6);   // there at 2
  EXPECT_EQ(arrival(false), 7);  // 1 + 5 + 1
}

TEST(Simulator, AGradientsBufferIsFreeAfterTheBackwardByInput) {
  // Stage 0 has used two gradients by input; the third is posted though no weights are done.
  const auto last_receive = [](Op first) {
    StageProgram list;
    for (std::int64_t m = 0; m < 3; ++m) {
      list.push_back({Op::kLoadInput, m});
      list.push_back({Op::kSendActivation, m});
    }
    for (std::int64_t m = 0; m < 3; ++m) {
      list.push_back({Op::kRecvGradient, m});
      list.push_back({first, m});
    }
    return bind_program(list).receives.back();
  };
  EXPECT_EQ(last_receive(Op::kBackwardInput).micro_batch, 2);
  EXPECT_THROW(last_receive(Op::kBackwardWeight), Error);
}

/// One stage, one micro-batch, two buckets.
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
    return simulation.spans[0][place_of(schedule[0], {op, -1, bucket})];
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
    const Span span = simulation.spans[0][place_of(schedule[0], {op, 0, 1})];
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
  const ChunkCost cost{
      .load_input_seconds = 1, .forward_seconds = 10, .load_labels_seconds = 100, .loss_seconds = 1000};
  const Simulation simulation = simulate(schedule, equal_costs(schedule, cost));
  EXPECT_EQ(simulation.stages[0].busy_seconds, 11);
  EXPECT_EQ(simulation.stages[1].busy_seconds, 1110);
  EXPECT_EQ(simulation.step_seconds, 1121);
}

TEST(Simulator, AllStagesAgreeWhenTheLastHasCome) {
  PipelineSpec spec = pipeline({.stages = 3, .micro_batches = 2});
  spec.agree_on_update = true;
  const Schedule schedule = make_1f1b(spec);
  PipelineCosts costs = equal_costs(schedule, kUnit);
  costs.agree_seconds = 5;
  const Simulation simulation = simulate(schedule, costs);
  for (std::size_t s = 0; s < 3; ++s) {
    const Span span = simulation.spans[s][place_of(schedule[s], {Op::kAgreeOnUpdate})];
    EXPECT_EQ(span.ready_seconds, (2 + 2) * 9 + 5);  // stage 0 ends last
    EXPECT_EQ(simulation.stages[s].communication_seconds, 5);
  }
}

TEST(Simulator, DividesIdleTimeIntoBubbleAndCommunication) {
  // Stage 1 waits for Forward 0 until 4, then for the message until 9.
  const Schedule schedule = make_evaluation(pipeline({.stages = 2, .micro_batches = 1}));
  const Simulation simulation =
      simulate(schedule, equal_costs(schedule, {.forward_seconds = 4, .behind = transfer(5)}));
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
        // Quarters and whole numbers: exact.
        EXPECT_EQ(times.busy_seconds + times.bubble_seconds + times.communication_seconds, simulation.step_seconds);
      }
    }
  }
}

TEST(Simulator, ReportsSwappedReceives) {
  Schedule schedule = make_gpipe(pipeline({.stages = 2, .micro_batches = 3}));
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
  // Stage 0 waits for the gradient before it sends the activation that the gradient is of.
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
  // Stage 1 sends five gradients before the activation that stage 0 wants before it uses the first. Two are taken into
  // stage 0's buffers, two stay in stage 1's.
  Schedule schedule = {{{Op::kRecvActivation, 0, kAllBuckets, 1}}, {}};
  for (std::int64_t m = 0; m < 5; ++m) {
    schedule[0].insert(schedule[0].end(), {{Op::kRecvGradient, m}, {Op::kBackward, m}});
    schedule[1].insert(schedule[1].end(), {{Op::kBackward, m}, {Op::kSendGradient, m}});
  }
  schedule[1].push_back({Op::kSendActivation, 0});
  const PipelineCosts costs = equal_costs(schedule, kUnit, 2);
  EXPECT_NO_THROW(simulate(schedule, costs));
  try {
    simulate(schedule, costs, kZeroBuffering);
    FAIL() << "no deadlock";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "The schedule deadlocks without buffering: stage 0 at RecvActivation 0 chunk 1 waits for "
                 "SendActivation 0 of stage 1; stage 1 at Backward 4 waits for its SendGradient 2 to leave, for which "
                 "stage 0 has no buffer yet.");
  }
}

TEST(Simulator, ReportsAListThatWaitsForItsOwnBuffer) {
  // Stage 0 asks for all three gradients before it uses the first: one more than it has buffers for.
  Schedule schedule = make_gpipe(pipeline({.stages = 2, .micro_batches = 3}));
  StageProgram& first = schedule[0];
  std::stable_partition(first.begin() + static_cast<std::ptrdiff_t>(place_of(first, {Op::kRecvGradient, 0})),
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
