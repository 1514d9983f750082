/// A bad loss does not come from fp16's scale, and if arithmetic is wrong, no number says anything.
#include "step/step_judge.h"

#include <utility>

#include "step/step_audit.h"

namespace convoy {

namespace {

constexpr std::int64_t kNothing = 0, kBadLoss = 2, kWrong = 3;  // 1: a gradient that is not a finite number

}  // namespace

StepJudge::StepJudge(const RankRuntime& runtime, const ExecutorParts& parts, StepAudit* audit)
    : spec_(runtime.plan().spec()), parts_(parts), audit_(audit), found_(runtime.device(), sizeof(std::int32_t)) {}

bool StepJudge::is_needed() const {
  return spec_.checks_numbers || audit_ != nullptr || parts_.loss_scale->is_dynamic();
}

void StepJudge::look_at_gradient(std::int64_t bucket) {
  parts_.update->find_non_finite(bucket, found_.as<std::int32_t>().data());
}

std::int64_t StepJudge::finding() {
  const std::int64_t found = std::exchange(found_.as<std::int32_t>().front(), 0);
  if (audit_ != nullptr && audit_->is_checking() && !audit_->holds()) return kWrong;
  return has_bad_loss() ? kBadLoss : found;
}

StepOutcome StepJudge::outcome(std::int64_t largest_finding) const {
  if (largest_finding == kNothing) return StepOutcome::kApplied;
  if (largest_finding == kWrong) return StepOutcome::kWrong;
  const LossScale& scale = *parts_.loss_scale;
  const bool may_be_scale = scale.is_dynamic() && !(spec_.checks_numbers && scale.is_smallest());
  return largest_finding != kBadLoss && may_be_scale ? StepOutcome::kOverflow : StepOutcome::kBad;
}

// Checks each micro-batch by itself, so that this rank need not wait for a sum over replicas.
bool StepJudge::has_bad_loss() const {
  if (parts_.loss == nullptr || !spec_.checks_numbers) return false;
  for (std::int64_t m = 0; m < parts_.loss->num_micro_batches(); ++m)
    if (parts_.loss->is_bad(m, spec_.train.loss_limit)) return true;
  return false;
}

}  // namespace convoy
