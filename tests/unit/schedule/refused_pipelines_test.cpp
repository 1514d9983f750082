/// Tests that no schedule is made for a spec that is not a pipeline, or for more chunks than its kind allows.
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/schedule/schedule.h"

#include "unit/schedule/draw.h"

namespace convoy {
namespace {

using testing::pipeline;

TEST(Schedule, RefusesWhatIsNoPipeline) {
  EXPECT_THROW(make_gpipe({.stages = 0, .micro_batches = 1, .num_buckets = {}}), Error);
  EXPECT_THROW(make_gpipe({.stages = 1, .micro_batches = 0, .num_buckets = {1}}), Error);
  EXPECT_THROW(make_1f1b({.stages = 2, .micro_batches = 1, .num_buckets = {1}}), Error);
  EXPECT_THROW(make_naive({.stages = 2, .micro_batches = 1, .num_buckets = {1, 0}}), Error);
  EXPECT_THROW(make_interleaved({.stages = 2, .micro_batches = 1, .chunks = 0, .num_buckets = {}}), Error);
  EXPECT_THROW(make_interleaved({.stages = 2, .micro_batches = 1, .chunks = 2, .num_buckets = {1, 1}}), Error);
  EXPECT_THROW(make_zero_bubble({.stages = 2, .micro_batches = 1, .num_buckets = {1, 1}, .costs = {.chunks = {{}}}}),
               Error);
}

TEST(Schedule, RefusesSeveralChunksWhereTheKindHasOne) {
  const PipelineSpec spec = pipeline({.stages = 2, .micro_batches = 2, .chunks = 2});
  for (const ScheduleTraits& schedule : kSchedules) {
    if (schedule.has_chunks) continue;
    EXPECT_THROW(make_schedule(schedule.kind, spec), Error) << name_of(schedule.kind);
  }
}

}  // namespace
}  // namespace convoy
