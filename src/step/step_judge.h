/// Judges a training step before its weights change: are all numbers finite, and do the checks of an audit hold?
#pragma once

#include <cstdint>

#include "step/rank_runtime.h"
#include "step/step_observer.h"

namespace convoy {

class StepAudit;
struct ExecutorParts;

/// Finds the outcome of each step of a training.
class StepJudge {
 public:
  /// The arguments must outlive this object. `audit` is null if steps are not audited.
  StepJudge(const RankRuntime& runtime, const ExecutorParts& parts, StepAudit* audit);

  /// Whether any step may not be applied. If not, the other members need not be called.
  bool is_needed() const;
  /// Issues the device work that looks at this replica's slice of a bucket's summed gradient.
  void look_at_gradient(std::int64_t bucket);
  /// Returns what this rank has found in the step, as a number: the largest of all ranks counts. Called when the device
  /// is idle.
  std::int64_t finding();
  /// Returns the outcome for the largest finding of all ranks.
  StepOutcome outcome(std::int64_t largest_finding) const;

 private:
  bool has_bad_loss() const;

  const RuntimeSpec& spec_;
  const ExecutorParts& parts_;
  StepAudit* audit_;
  HostBuffer found_;  ///< std::int32_t: 1 if a gradient is not a finite number
};

}  // namespace convoy
