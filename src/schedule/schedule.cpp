/// What is common to all schedules: the choice among them, and how much memory a list asks for.
#include "convoy/schedule/schedule.h"

#include <algorithm>
#include <map>

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
  }
  fail("There is no schedule number {}.", static_cast<int>(kind));
}

std::vector<SlotUse> slot_uses(const StageProgram& program) {
  std::vector<SlotUse> uses;
  std::map<std::int64_t, std::size_t> use_of;  // by micro-batch
  for (std::size_t i = 0; i < program.size(); ++i) {
    const auto [op, m, bucket] = program[i];
    if (op == Op::kLoadInput || op == Op::kRecvActivation) {
      use_of[m] = uses.size();
      uses.push_back({.micro_batch = m, .taken_at = i, .released_at = i});
    } else if (op == Op::kSendActivation || op == Op::kLoss || op == Op::kBackward) {
      if (const auto use = use_of.find(m); use != use_of.end()) uses[use->second].released_at = i;
    }
  }
  return uses;
}

std::int64_t max_in_flight(const StageProgram& program) {
  std::vector<std::int64_t> change(program.size() + 1, 0);
  for (const SlotUse& use : slot_uses(program)) {
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

}  // namespace convoy
