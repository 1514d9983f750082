/// What is common to all schedules: the choice among them, and how much memory a list asks for.
#include "convoy/schedule/schedule.h"

#include <algorithm>

#include "convoy/base/error.h"

namespace convoy {

Schedule make_schedule(ScheduleKind kind, const PipelineSpec& spec) {
  switch (kind) {
    case ScheduleKind::kNaive:
      return make_naive(spec);
    case ScheduleKind::kGpipe:
      return make_gpipe(spec);
    case ScheduleKind::k1F1B:
      return make_1f1b(spec);
    case ScheduleKind::kInterleaved:
      return make_interleaved(spec);
    case ScheduleKind::kZeroBubble:
      return make_zero_bubble(spec);
  }
  fail("There is no schedule number {}.", static_cast<int>(kind));
}

std::int64_t num_chunks(const StageProgram& program) {
  std::int64_t last = 0;
  for (const Instruction& i : program) last = std::max(last, i.chunk);
  return last + 1;
}

std::vector<SlotUse> slot_uses(const StageProgram& program) {
  std::vector<SlotUse> uses;
  std::vector<std::vector<std::int64_t>> use_of(num_chunks(program));  // by chunk and micro-batch; -1: none
  for (std::size_t i = 0; i < program.size(); ++i) {
    const auto& [op, m, bucket, chunk] = program[i];
    auto& use_of_m = use_of[chunk];
    if (op == Op::kLoad || op == Op::kRecvActivation) {
      if (m >= std::ssize(use_of_m)) use_of_m.resize(m + 1, -1);
      if (use_of_m[m] >= 0) continue;  // loaded before
      use_of_m[m] = std::ssize(uses);
      uses.push_back({.chunk = chunk, .micro_batch = m, .taken_at = i, .released_at = i});
    } else if (op == Op::kSendActivation || op == Op::kLoss || op == Op::kBackward || op == Op::kBackwardWeight) {
      if (m < std::ssize(use_of_m) && use_of_m[m] >= 0) uses[use_of_m[m]].released_at = i;
    }
  }
  return uses;
}

namespace {

// Of the uses that count.
template <typename Counts>
std::int64_t most_at_once(const StageProgram& program, const Counts& counts) {
  std::vector<std::int64_t> change(program.size() + 1, 0);
  for (const SlotUse& use : slot_uses(program)) {
    if (!counts(use)) continue;
    ++change[use.taken_at];
    --change[use.released_at + 1];
  }
  std::int64_t held = 0, most = 0;
  for (const std::int64_t step : change) {
    held += step;
    most = std::max(most, held);
  }
  return most;
}

}  // namespace

std::int64_t max_in_flight(const StageProgram& program) {
  return most_at_once(program, [](const SlotUse&) { return true; });
}

std::int64_t max_in_flight(const StageProgram& program, std::int64_t chunk) {
  return most_at_once(program, [chunk](const SlotUse& use) { return use.chunk == chunk; });
}

}  // namespace convoy
