/// Frames and buffers are never shared by two micro-batches that need them at the same time, and receives are posted
/// early but never too early.
#include "train/bound_program.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "convoy/schedule/schedule.h"

namespace convoy {

namespace {

struct Case {
  ScheduleKind kind;
  std::int64_t stages, micro_batches, buckets;
};

template <typename Check>
void for_each_program(Check&& check) {
  for (const ScheduleKind kind : {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B})
    for (const std::int64_t stages : {1, 2, 3, 5, 8})
      for (const std::int64_t micro_batches : {1, 2, 3, 7, 8, 32})
        for (const std::int64_t buckets : {1, 3}) {
          const PipelineSpec spec{.stages = stages,
                                  .micro_batches = micro_batches,
                                  .num_buckets = std::vector<std::int64_t>(stages, buckets)};
          const Schedule schedule = make_schedule(kind, spec);
          for (const StageProgram& program : schedule) check(program, bind_program(program));
        }
}

bool completes_backward(const Instruction& i) {
  return i.op == Op::kBackward && (i.bucket == kAllBuckets || i.bucket == 0);
}

}  // namespace

TEST(BoundProgram, AFrameHoldsOneMicroBatchAtATime) {
  for_each_program([](const StageProgram& program, const BoundProgram& bound) {
    std::map<std::int64_t, std::int64_t> holder;  // frame -> micro-batch
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Instruction& instruction = program[i];
      const std::int64_t m = instruction.micro_batch, frame = bound.actions[i].frame;
      for (const EarlyReceive& receive : bound.actions[i].receives_before)
        if (receive.op == Op::kRecvActivation) {
          EXPECT_FALSE(holder.contains(receive.buffer));
          holder[receive.buffer] = receive.micro_batch;
        }
      if (instruction.op == Op::kLoadInput) {
        EXPECT_FALSE(holder.contains(frame));
        holder[frame] = m;
      }
      if (m < 0) continue;
      ASSERT_LT(frame, bound.num_frames);
      if (instruction.op == Op::kRecvActivation || instruction.op == Op::kForward || instruction.op == Op::kBackward ||
          instruction.op == Op::kLoss || instruction.op == Op::kSendActivation) {
        ASSERT_TRUE(holder.contains(frame));
        EXPECT_EQ(holder[frame], m);
      }
      if (completes_backward(instruction)) holder.erase(frame);
    }
    EXPECT_TRUE(holder.empty());
  });
}

TEST(BoundProgram, AGradientBufferHoldsOneGradientAtATime) {
  for_each_program([](const StageProgram& program, const BoundProgram& bound) {
    std::map<std::int64_t, std::int64_t> holder;  // buffer -> micro-batch
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Action& action = bound.actions[i];
      for (const EarlyReceive& receive : action.receives_before)
        if (receive.op == Op::kRecvGradient) {
          EXPECT_FALSE(holder.contains(receive.buffer));
          holder[receive.buffer] = receive.micro_batch;
        }
      const std::int64_t m = program[i].micro_batch;
      if (program[i].op == Op::kRecvGradient || (program[i].op == Op::kBackward && action.gradient_in >= 0)) {
        EXPECT_EQ(holder.at(action.gradient_in), m);
      }
      if (completes_backward(program[i]) && action.gradient_in >= 0) holder.erase(action.gradient_in);
    }
    EXPECT_TRUE(holder.empty());
  });
}

TEST(BoundProgram, EveryReceiveIsPostedOnceBeforeItIsAwaited) {
  for_each_program([](const StageProgram& program, const BoundProgram& bound) {
    std::set<std::pair<Op, std::int64_t>> posted;
    for (std::size_t i = 0; i < program.size(); ++i) {
      for (const EarlyReceive& receive : bound.actions[i].receives_before)
        EXPECT_TRUE(posted.insert({receive.op, receive.micro_batch}).second);
      if (program[i].op == Op::kRecvActivation || program[i].op == Op::kRecvGradient) {
        EXPECT_TRUE(posted.contains({program[i].op, program[i].micro_batch}));
      }
    }
  });
}

TEST(BoundProgram, BackwardAndSendUseTheSameGradientBuffer) {
  for_each_program([](const StageProgram& program, const BoundProgram& bound) {
    std::map<std::int64_t, std::int64_t> written;
    for (std::size_t i = 0; i < program.size(); ++i) {
      const std::int64_t m = program[i].micro_batch;
      if (program[i].op == Op::kBackward) {
        EXPECT_EQ(bound.actions[i].first_piece, !written.contains(m));
        written[m] = bound.actions[i].gradient_out;
      }
      if (program[i].op == Op::kSendGradient) {
        EXPECT_EQ(bound.actions[i].gradient_out, written.at(m));
      }
    }
  });
}

TEST(BoundProgram, UsesNoMoreFramesThanTheScheduleHasInFlight) {
  for_each_program([](const StageProgram& program, const BoundProgram& bound) {
    EXPECT_EQ(bound.num_frames, max_in_flight(program));
  });
}

TEST(BoundProgram, EvaluationTakesTurnsBetweenItsFrames) {
  const Schedule schedule = make_evaluation({.stages = 3, .micro_batches = 5, .num_buckets = {1, 1, 1}});
  for (const StageProgram& program : schedule) {
    const BoundProgram bound = bind_program(program, 2);
    EXPECT_EQ(bound.num_frames, 2);
    for (std::size_t i = 0; i < program.size(); ++i)
      if (program[i].op == Op::kForward) {
        EXPECT_EQ(bound.actions[i].frame, program[i].micro_batch % 2);
      }
  }
}

}  // namespace convoy
