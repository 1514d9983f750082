/// A bad loss does not come from fp16's scale, and if arithmetic is wrong, no number says anything.
#include "step/step_judge.h"

#include <utility>

#include "step/step_audit.h"
#include "step/step_loss.h"

namespace convoy {

namespace {

constexpr std::int64_t kNothing = 0, kBadLoss = 2, kWrong = 3;  // 1: a gradient that is not a finite number

}  // namespace

StepJudge::StepJudge(const RankRuntime& runtime, ShardedUpdate& update, const LossScale& loss_scale,
                     const StepLoss* loss, StepAudit* audit)
    : checks_numbers_(runtime.plan().spec().checks_numbers),
      loss_limit_(runtime.plan().spec().train.loss_limit),
      update_(update),
      loss_scale_(loss_scale),
      loss_(loss),
      audit_(audit),
      found_(runtime.device(), sizeof(std::int32_t)) {}

std::int64_t StepJudge::finding() {
  const std::int64_t found = std::exchange(found_.as<std::int32_t>().front(), 0);
  if (audit_ != nullptr && audit_->is_checking() && !audit_->holds()) return kWrong;
  return has_bad_loss() ? kBadLoss : found;
}

StepOutcome StepJudge::outcome(std::int64_t largest_finding) const {
  if (largest_finding == kNothing) return StepOutcome::kApplied;
  if (largest_finding == kWrong) return StepOutcome::kWrong;
  const bool may_be_scale = loss_scale_.is_dynamic() && !(checks_numbers_ && loss_scale_.is_smallest());
  return largest_finding != kBadLoss && may_be_scale ? StepOutcome::kOverflow : StepOutcome::kBad;
}

// Checks each micro-batch by itself, so that this rank need not wait for a sum over replicas.
bool StepJudge::has_bad_loss() const {
  if (loss_ == nullptr || !checks_numbers_) return false;
  for (std::int64_t m = 0; m < loss_->num_micro_batches(); ++m)
    if (loss_->is_bad(m, loss_limit_)) return true;
  return false;
}

}  // namespace convoy
