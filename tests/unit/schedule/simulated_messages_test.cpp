/// Tests when simulated messages leave and arrive: at the wire, and at the frames and buffers at its two ends.
#include <utility>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/schedule/bound_program.h"
#include "convoy/schedule/simulator.h"

#include "unit/schedule/draw.h"
#include "unit/schedule/simulated_pipeline.h"

namespace convoy {
namespace {

using testing::equal_costs;
using testing::index_of;
using testing::kZeroBuffering;
using testing::pipeline;
using testing::transfer;

TEST(Simulator, TransfersDelayTheReceiverButDoNotOccupyTheSender) {
  const Schedule schedule = make_gpipe(pipeline({.stages = 2, .micro_batches = 2}));
  const Simulation simulation =
      simulate(schedule, equal_costs(schedule, {.forward_seconds = 1, .to_next = transfer(10)}));
  const auto forward_end = [&](std::size_t s, std::int64_t m) {
    return simulation.spans[s][index_of(schedule[s], {Op::kForward, m})].end_seconds;
  };
  EXPECT_EQ(forward_end(0, 0), 1);
  EXPECT_EQ(forward_end(0, 1), 2);   // while activation 0 travels
  EXPECT_EQ(forward_end(1, 0), 12);  // 1 + 10 + 1
  EXPECT_EQ(forward_end(1, 1), 22);  // activation 1 follows activation 0 on the same wire: 1 + 10 + 10 + 1
}

TEST(Simulator, LatencyDoesNotHoldTheWire) {
  const Schedule schedule = make_gpipe(pipeline({.stages = 2, .micro_batches = 2}));
  const TransferCost to_next{.latency_seconds = 4, .size_bytes = 12, .bytes_per_second = 2};
  const Simulation simulation = simulate(schedule, equal_costs(schedule, {.forward_seconds = 1, .to_next = to_next}));
  const auto arrival = [&](std::int64_t m) {
    return simulation.spans[1][index_of(schedule[1], {Op::kRecvActivation, m})].end_seconds;
  };
  EXPECT_EQ(arrival(0), 11);  // 1 + 12/2 + 4
  EXPECT_EQ(arrival(1), 17);  // on the wire from 7 to 13, then 4
}

TEST(Simulator, ChunksShareTheWireBetweenTwoStages) {
  // Stage 0 sends the activations of its two chunks at 0: the second is on the wire after the first.
  const Schedule schedule = {
      {{Op::kLoad, 0},
       {Op::kSendActivation, 0},
       {Op::kRecvActivation, 0, kAllBuckets, 1},
       {Op::kSendActivation, 0, kAllBuckets, 1}},
      {{Op::kRecvActivation, 0},
       {Op::kSendActivation, 0},
       {Op::kRecvActivation, 0, kAllBuckets, 1},
       {Op::kLoss, 0, kAllBuckets, 1}},
  };
  PipelineCosts costs = equal_costs(schedule, {}, 2);
  costs.chunks[0].to_next = transfer(5);
  costs.chunks[1].to_next = transfer(1);  // back to stage 0
  costs.chunks[2].to_next = transfer(5);
  EXPECT_EQ(simulate(schedule, costs).step_seconds, 11);
  // With a second micro-batch right after the first, chunk 1's first activation, ready at 6, waits for it until 10.
  Schedule longer = schedule;
  longer[0].insert(longer[0].begin() + 2, {{Op::kLoad, 1}, {Op::kSendActivation, 1}});
  longer[1].insert(longer[1].begin() + 2, {Op::kRecvActivation, 1});
  longer[1].push_back({Op::kLoss, 1});
  std::swap(longer[1][2], longer[1][3]);
  EXPECT_EQ(simulate(longer, costs).step_seconds, 15);
}

TEST(Simulator, WithoutBufferingAMessageLeavesOnceItsReceiveIsPosted) {
  // Stage 1 has one frame, and computes Forward 0 from 3 to 8. With buffering, activation 1 follows activation 0 and
  // arrives at 3 + 2 = 5, before its receive is posted. Without buffering, it leaves when the frame is released: 8 + 2.
  const Schedule schedule = make_evaluation(pipeline({.stages = 2, .micro_batches = 2}));
  const PipelineCosts costs{.chunks = {{.forward_seconds = 1, .to_next = transfer(2)}, {.forward_seconds = 5}}};
  const std::size_t receive = index_of(schedule[1], {Op::kRecvActivation, 1});
  EXPECT_EQ(simulate(schedule, costs).spans[1][receive].end_seconds, 8);
  EXPECT_EQ(simulate(schedule, costs, kZeroBuffering).spans[1][receive].end_seconds, 10);
}

TEST(Simulator, AFrameIsNotWrittenAgainBeforeItsActivationHasLeft) {
  // Stage 0 has one frame: Forward 1 may not overwrite activation 0 before that has left, at 1 + 10. The message's
  // latency does not matter to the sender.
  const Schedule schedule = make_evaluation(pipeline({.stages = 2, .micro_batches = 2}));
  ChunkCost cost{.forward_seconds = 1, .to_next = transfer(10)};
  cost.to_next.latency_seconds = 100;
  const std::size_t forward = index_of(schedule[0], {Op::kForward, 1});
  const Span span = simulate(schedule, equal_costs(schedule, cost)).spans[0][forward];
  EXPECT_EQ(span.begin_seconds, 1);
  EXPECT_EQ(span.ready_seconds, 11);
  EXPECT_EQ(span.end_seconds, 12);
}

TEST(Simulator, ABackwardWaitsUntilItsBufferForTheGradientHasLeft) {
  // A gradient takes 10 and a backward 1. The third gradient is written into the buffer of the first, which has left at
  // 1 + 10.
  const Schedule schedule = make_gpipe(pipeline({.stages = 2, .micro_batches = 4}));
  PipelineCosts costs = equal_costs(schedule, {.backward_input_seconds = 1});
  costs.chunks[0].to_next = transfer(10);
  const Simulation simulation = simulate(schedule, costs);
  const auto backward = [&](std::int64_t m) { return simulation.spans[1][index_of(schedule[1], {Op::kBackward, m})]; };
  const double all_arrived = 40;
  EXPECT_EQ(backward(0).ready_seconds, all_arrived);
  EXPECT_EQ(backward(1).ready_seconds, all_arrived + 1);
  EXPECT_EQ(backward(2).begin_seconds, all_arrived + 2);
  EXPECT_EQ(backward(2).ready_seconds, all_arrived + 11);
}

TEST(Simulator, WithoutBufferingAReceiveIsNotPostedInTheMidstOfComputing) {
  // Stage 1 has one frame. If its micro-batch 0 is released before Forward 7, which takes from 1 to 6, then activation
  // 1 is posted at the begin of Forward 7. If it is released after Forward 7, activation 1 leaves at the end of Forward
  // 7.
  const auto arrival = [](bool released_before) {
    StageProgram second = {{Op::kRecvActivation, 0}, {Op::kForward, 7}, {Op::kRecvActivation, 1}};
    second.insert(second.begin() + (released_before ? 1 : 2), {Op::kLoss, 0});
    const Schedule schedule = {{{Op::kLoad, 0}, {Op::kSendActivation, 0}, {Op::kLoad, 1}, {Op::kSendActivation, 1}},
                               second};
    PipelineCosts costs = equal_costs(schedule, {.forward_seconds = 5});
    costs.chunks[0].to_next = transfer(1);
    return simulate(schedule, costs, kZeroBuffering).spans[1].back().end_seconds;
  };
  EXPECT_EQ(arrival(true), 6);   // the message arrives at 2
  EXPECT_EQ(arrival(false), 7);  // 1 + 5 + 1
}

TEST(Simulator, AGradientsBufferIsFreeAfterTheBackwardByInput) {
  // Stage 0 has computed two data gradients. The third receive is posted although no weight gradient is done.
  const auto last_receive = [](Op first) {
    StageProgram list;
    for (std::int64_t m = 0; m < 3; ++m) {
      list.push_back({Op::kLoad, m});
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

}  // namespace
}  // namespace convoy
