/// Detects a run whose loss explodes: since when, and which checkpoint to resume from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/io/checkpoint.h"

namespace convoy {

/// The weights are not finite numbers any more: more steps are of no use.
class DivergenceError : public Error {
 public:
  using Error::Error;
};

/// The range of a training loss is all below
///   2 * lowest + 0.1      lowest: of the loss's moving average so far (of 32 steps; at first, of all steps)
/// Cross-entropy is measured in nats and falls from ln(classes). Other samples, a rate that rises, the next epoch move
/// it by a part of what was reached, not to twice as much; near zero the tenth stands in for that. The loss has left
/// its range with the first step above it, and is back once the step and the average both are within.
class LossRange {
 public:
  /// As it was at a checkpoint.
  explicit LossRange(const io::TrainingState& start)
      : average_(start.loss_average), lowest_(start.loss_lowest), left_step_(start.loss_left_step) {}

  /// `loss`: the mean of this step; not necessarily finite. Steps count from 1.
  void add(std::int64_t step, double loss);
  /// The step at which the loss left its range; 0 while it is within.
  std::int64_t left_step() const { return left_step_; }
  /// Infinite before the first step.
  double limit() const { return 2 * lowest_ + 0.1; }
  void save_to(io::TrainingState& state) const;

 private:
  double average_, lowest_;
  std::int64_t left_step_;
};

/// All checkpoints below this step are from before the loss left its range at `left_step`. A checkpoint holds the
/// weights whose loss the next step measures: the one of the step before is the first that is not.
inline std::int64_t first_step_not_to_resume(std::int64_t left_step) {
  return left_step - 1;
}

/// A sentence without its stop on how to continue after the loss has left its range at `left_step`: from the newest
/// checkpoint from before that (best.h5 among them), or from the beginning.
std::string describe_way_back(const std::string& checkpoints, std::int64_t left_step);

/// The first tensor with a value that is not a finite number; empty where there is none.
std::string find_not_finite(const std::vector<io::NamedTensor>& weights);

/// Throws DivergenceError: the weights of `step` have such a tensor, and the checkpoint would be resumed for ever.
[[noreturn]] void refuse_to_save(const std::string& not_finite, std::int64_t step, const LossRange& range,
                                 const std::string& checkpoints);

}  // namespace convoy
