/// Judges a training step before its weights change: are all numbers finite, and do the checks of an audit hold?
#pragma once

#include <cstdint>

#include "convoy/device/device.h"

#include "step/rank_runtime.h"
#include "update/loss_scale.h"
#include "update/sharded_update.h"

namespace convoy {

class StepAudit;

/// The result of a training step, the same on all ranks.
enum class StepOutcome {
  kApplied,   ///< the weights were updated
  kOverflow,  ///< not applied: a gradient is too large for fp16 at this loss scale, which is then halved
  kBad,       ///< not applied: the loss or a gradient is infinite or NaN, or the loss is above its limit
  kWrong,     ///< not applied: the memory or the arithmetic of a rank is wrong (StepAudit)
};

/// Finds the outcome of each step of a training.
class StepJudge {
 public:
  /// The arguments must outlive this object. `loss` is null except on the last stage, `audit` if steps are not audited.
  StepJudge(const RankRuntime& runtime, ShardedUpdate& update, const LossScale& loss_scale, const StepLoss* loss,
            StepAudit* audit);

  /// Whether any step may not be applied. If not, the other members need not be called.
  bool is_needed() const { return checks_numbers_ || audit_ != nullptr || loss_scale_.is_dynamic(); }
  /// Issues the device work that looks at this replica's slice of a bucket's summed gradient.
  void look_at_gradient(std::int64_t bucket) { update_.find_non_finite(bucket, found_.as<std::int32_t>().data()); }
  /// Returns what this rank has found in the step, as a number: the largest of all ranks counts. Called when the device
  /// is idle.
  std::int64_t finding();
  /// Returns the outcome for the largest finding of all ranks.
  StepOutcome outcome(std::int64_t largest_finding) const;

 private:
  bool has_bad_loss() const;

  bool checks_numbers_;
  double loss_limit_;
  ShardedUpdate& update_;
  const LossScale& loss_scale_;
  const StepLoss* loss_;
  StepAudit* audit_;
  HostBuffer found_;  ///< std::int32_t: 1 if a gradient is not a finite number
};

}  // namespace convoy
