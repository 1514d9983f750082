/// Tests the lists of an evaluation for stages 1-8 and micro-batches 1-32, and with several chunks.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/schedule/schedule.h"

#include "unit/schedule/draw.h"

namespace convoy {
namespace {

using testing::draw;
using testing::for_each_size;
using testing::pipeline;
using testing::PipelineSize;

TEST(EvaluationSchedule, RunsForwardOnceAMicroBatchWithOneInFlight) {
  for_each_size(1, [](const PipelineSize& size) {
    const std::int64_t p = size.stages, m = size.micro_batches;
    const Schedule schedule = make_evaluation(pipeline(size));
    ASSERT_EQ(std::ssize(schedule), p);
    for (std::int64_t s = 0; s < p; ++s) {
      SCOPED_TRACE(fmt::format("stage {}", s));
      StageProgram expected;
      for (std::int64_t i = 0; i < m; ++i) {
        if (s == 0 || s == p - 1) expected.push_back({Op::kLoad, i});
        if (s > 0) expected.push_back({Op::kRecvActivation, i});
        expected.push_back({Op::kForward, i});
        expected.push_back({s == p - 1 ? Op::kLoss : Op::kSendActivation, i});
      }
      ASSERT_EQ(schedule[static_cast<std::size_t>(s)], expected);
      ASSERT_EQ(testing::max_in_flight_of_all(expected), 1);
    }
  });
}

TEST(EvaluationSchedule, TakesGroupsOfMicroBatchesThroughSeveralChunks) {
  EXPECT_EQ(draw(make_evaluation(pipeline({.stages = 2, .micro_batches = 5, .chunks = 2})), 2),
            "F0 F1 f0 f1 F2 F3 f2 f3 F4 .  f4 .\n"
            ".  F0 F1 f0 f1 F2 F3 f2 f3 F4 .  f4\n");
  for (const StageProgram& program : make_evaluation(pipeline({.stages = 3, .micro_batches = 7, .chunks = 2})))
    EXPECT_EQ(testing::max_in_flight_of_all(program), 1);
}

}  // namespace
}  // namespace convoy
