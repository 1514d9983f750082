/// The functions for all schedules: the choice among them, and the memory that a list needs.
#include "convoy/schedule/schedule.h"

#include <algorithm>
#include <numeric>

#include "convoy/base/error.h"

namespace convoy {

const ScheduleTraits& traits_of(ScheduleKind kind) {
  for (const ScheduleTraits& schedule : kSchedules) {
    if (schedule.kind == kind) return schedule;
  }
  fail("There is no schedule number {}.", static_cast<int>(kind));
}

std::vector<ScheduleKind> all_schedules() {
  std::vector<ScheduleKind> kinds;
  for (const ScheduleTraits& schedule : kSchedules) kinds.push_back(schedule.kind);
  return kinds;
}

Schedule make_schedule(ScheduleKind kind, const PipelineSpec& spec) {
  const ScheduleTraits& schedule = traits_of(kind);
  if (!schedule.has_chunks && spec.chunks != 1)
    fail("{} schedules one chunk per stage, not {}.", name_of(kind), spec.chunks);
  return schedule.make(spec);
}

Schedule make_audit(ScheduleKind kind, const PipelineSpec& spec) {
  PipelineSpec pipeline = spec;
  pipeline.micro_batches = 1;
  Schedule schedule = make_schedule(kind, pipeline);
  for (StageProgram& program : schedule)
    std::erase_if(program, [](const Instruction& i) { return is_of_update(i.op); });
  return schedule;
}

std::int64_t num_chunks(const StageProgram& program) {
  std::int64_t last = 0;
  for (const Instruction& i : program) last = std::max(last, i.chunk);
  return last + 1;
}

std::vector<FrameUse> frame_uses(const StageProgram& program) {
  std::vector<FrameUse> uses;
  std::vector<std::vector<std::int64_t>> use_of(num_chunks(program));  // by chunk and micro-batch; -1: none
  for (std::size_t i = 0; i < program.size(); ++i) {
    const auto& [op, m, bucket, chunk] = program[i];
    auto& use_of_m = use_of[chunk];
    if (op == Op::kLoad || op == Op::kRecvActivation) {
      if (m >= std::ssize(use_of_m)) use_of_m.resize(m + 1, -1);
      if (use_of_m[m] >= 0) continue;  // the micro-batch has been loaded already
      use_of_m[m] = std::ssize(uses);
      uses.push_back({.chunk = chunk, .micro_batch = m, .taken_at = i, .released_at = i});
    } else if (op == Op::kSendActivation || op == Op::kLoss || op == Op::kBackward || op == Op::kBackwardWeight) {
      if (m < std::ssize(use_of_m) && use_of_m[m] >= 0) uses[use_of_m[m]].released_at = i;
    }
  }
  return uses;
}

std::int64_t max_in_flight(const StageProgram& program, std::int64_t chunk) {
  std::vector<std::int64_t> change(program.size() + 1, 0);
  for (const FrameUse& use : frame_uses(program)) {
    if (use.chunk != chunk) continue;
    ++change[use.taken_at];
    --change[use.released_at + 1];
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  return *std::max_element(change.begin(), change.end());
}

}  // namespace convoy
