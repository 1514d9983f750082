/// Tests that frames and buffers are never shared by two micro-batches that need them at the same time, and that
/// receives are posted early but never too early.
#include "convoy/schedule/bound_program.h"

#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "convoy/schedule/schedule.h"

#include "unit/schedule/draw.h"

namespace convoy {

namespace {

using ChunkEntry = std::pair<std::int64_t, std::int64_t>;  ///< a chunk, and its frame, buffer or micro-batch

template <typename Check>
void for_each_program(Check&& check) {
  for (const ScheduleKind kind : all_schedules())
    for (const std::int64_t stages : {1, 2, 3, 5, 8})
      for (const std::int64_t micro_batches : {1, 2, 3, 7, 8, 32})
        for (const std::int64_t buckets : {1, 3}) {
          const std::int64_t chunks = traits_of(kind).has_chunks ? 3 : 1;
          const Schedule schedule = make_schedule(
              kind, testing::pipeline(
                        {.stages = stages, .micro_batches = micro_batches, .num_buckets = buckets, .chunks = chunks}));
          for (const StageProgram& program : schedule) check(program, bind_program(program));
        }
}

bool is_whole(const Instruction& i) {
  return i.bucket == kAllBuckets || i.bucket == 0;
}

bool uses_up_gradient(const Instruction& i) {
  return (i.op == Op::kBackward || i.op == Op::kBackwardInput) && is_whole(i);
}

bool completes_backward(const Instruction& i) {
  return (i.op == Op::kBackward || i.op == Op::kBackwardWeight) && is_whole(i);
}

}  // namespace

TEST(BoundProgram, AFrameHoldsOneMicroBatchAtATime) {
  for_each_program([](const StageProgram& program, const BoundProgram& bound) {
    std::map<ChunkEntry, std::int64_t> holder;  // frame -> micro-batch
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Instruction& instruction = program[i];
      const std::int64_t m = instruction.micro_batch;
      const ChunkEntry frame{instruction.chunk, bound.actions[i].frame};
      for (const EarlyReceive& receive : bound.receives_before(bound.actions[i]))
        if (receive.op == Op::kRecvActivation) {
          EXPECT_TRUE(holder.emplace(ChunkEntry{receive.chunk, receive.buffer}, receive.micro_batch).second);
        }
      if (instruction.op == Op::kLoad) {
        holder.emplace(frame, m);  // no effect if its activation is on the way already
      }
      if (m < 0) continue;
      ASSERT_LT(frame.second, bound.num_frames[static_cast<std::size_t>(instruction.chunk)]);
      if (instruction.op != Op::kRecvGradient && instruction.op != Op::kSendGradient) {
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
    std::map<ChunkEntry, std::int64_t> holder;  // buffer -> micro-batch
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Action& action = bound.actions[i];
      for (const EarlyReceive& receive : bound.receives_before(action))
        if (receive.op == Op::kRecvGradient) {
          EXPECT_TRUE(holder.emplace(ChunkEntry{receive.chunk, receive.buffer}, receive.micro_batch).second);
        }
      const ChunkEntry buffer{program[i].chunk, action.gradient_in};
      if (program[i].op == Op::kBackwardWeight) {
        EXPECT_EQ(action.gradient_in, -1) << "the frame has all it needs";
      }
      if (action.gradient_in >= 0) {
        EXPECT_EQ(holder.at(buffer), program[i].micro_batch);
        if (uses_up_gradient(program[i])) holder.erase(buffer);
      }
    }
    EXPECT_TRUE(holder.empty());
  });
}

TEST(BoundProgram, EveryReceiveIsPostedOnceBeforeItIsAwaited) {
  for_each_program([](const StageProgram& program, const BoundProgram& bound) {
    std::set<std::tuple<Op, std::int64_t, std::int64_t>> posted;
    std::size_t num_awaited = 0;
    for (std::size_t i = 0; i < program.size(); ++i) {
      const auto& [op, m, bucket, chunk] = program[i];
      for (const EarlyReceive& receive : bound.receives_before(bound.actions[i]))
        EXPECT_TRUE(posted.insert({receive.op, receive.micro_batch, receive.chunk}).second);
      if (op == Op::kRecvActivation || op == Op::kRecvGradient) {
        EXPECT_TRUE(posted.contains({op, m, chunk}));
        ++num_awaited;
      }
    }
    EXPECT_EQ(posted.size(), num_awaited);
  });
}

TEST(BoundProgram, AnActivationIsPostedRightAfterTheBackwardThatFreesItsFrame) {
  // These schedules have micro-batches that find no free frame at the beginning.
  for (const ScheduleKind kind : {ScheduleKind::k1F1B, ScheduleKind::kInterleaved, ScheduleKind::kZeroBubble}) {
    const std::int64_t chunks = kind == ScheduleKind::kInterleaved ? 2 : 1;
    const PipelineSpec spec = testing::pipeline({.stages = 3, .micro_batches = 8, .chunks = chunks});
    for (const StageProgram& program : make_schedule(kind, spec)) {
      const BoundProgram bound = bind_program(program);
      for (std::size_t i = 0; i < program.size(); ++i) {
        for (const EarlyReceive& receive : bound.receives_before(bound.actions[i]))
          if (receive.op == Op::kRecvActivation && i > 0) {
            EXPECT_TRUE(completes_backward(program[i - 1]));
            EXPECT_EQ(bound.actions[i - 1].frame, receive.buffer);
          }
      }
    }
  }
}

TEST(BoundProgram, BackwardAndSendUseTheSameGradientBuffer) {
  for_each_program([](const StageProgram& program, const BoundProgram& bound) {
    std::map<ChunkEntry, std::int64_t> written;  // micro-batch -> buffer
    for (std::size_t i = 0; i < program.size(); ++i) {
      const ChunkEntry micro_batch{program[i].chunk, program[i].micro_batch};
      if (program[i].op == Op::kBackward || program[i].op == Op::kBackwardInput) {
        EXPECT_EQ(bound.actions[i].first_piece, !written.contains(micro_batch));
        written[micro_batch] = bound.actions[i].gradient_out;
      }
      if (program[i].op == Op::kSendGradient) {
        EXPECT_EQ(bound.actions[i].gradient_out, written.at(micro_batch));
      }
    }
  });
}

TEST(BoundProgram, UsesNoMoreFramesThanTheScheduleHasInFlight) {
  for_each_program([](const StageProgram& program, const BoundProgram& bound) {
    ASSERT_EQ(std::ssize(bound.num_frames), num_chunks(program));
    for (std::int64_t c = 0; c < num_chunks(program); ++c)
      EXPECT_EQ(bound.num_frames[static_cast<std::size_t>(c)], max_in_flight(program, c));
  });
}

TEST(BoundProgram, EvaluationTakesTurnsBetweenItsFrames) {
  const Schedule schedule = make_evaluation(testing::pipeline({.stages = 3, .micro_batches = 5}));
  for (const StageProgram& program : schedule) {
    const BoundProgram bound = bind_program(program, 2);
    EXPECT_EQ(bound.num_frames, std::vector<std::int64_t>{2});
    for (std::size_t i = 0; i < program.size(); ++i)
      if (program[i].op == Op::kForward) {
        EXPECT_EQ(bound.actions[i].frame, program[i].micro_batch % 2);
      }
  }
}

}  // namespace convoy
