/// Detects a run whose loss explodes: since when, and which checkpoint to resume from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/io/named_tensor.h"
#include "convoy/io/training_state.h"

namespace convoy {

/// Thrown if the weights are not finite numbers: further steps are of no use.
class DivergenceError : public Error {
 public:
  using Error::Error;
};

/// The range of a training loss is everything below
///   2 * lowest + 0.1      lowest: smallest moving average of the loss so far (over 32 steps; at first, over all)
/// Cross-entropy is measured in nats and falls from ln(classes). Other samples, a learning rate that rises or the next
/// epoch change it by a fraction of its lowest value, not to twice that; near zero the constant 0.1 allows for this.
/// The loss leaves its range with the first step above it. It is back when both the step's loss and the average are
/// within.
class LossRange {
 public:
  /// Continues from the range that a checkpoint recorded.
  explicit LossRange(const io::TrainingState& start)
      : average_(start.loss_average), lowest_(start.loss_lowest), left_step_(start.loss_left_step) {}

  /// Adds the mean loss of a step, which need not be finite. Steps count from 1.
  void add(std::int64_t step, double loss);
  /// Step at which the loss left its range; 0 while it is within.
  std::int64_t left_step() const { return left_step_; }
  /// Upper end of the range; infinite before the first step.
  double limit() const { return 2 * lowest_ + 0.1; }
  void save_to(io::TrainingState& state) const;

 private:
  double average_, lowest_;
  std::int64_t left_step_;
};

/// Returns the first step whose checkpoint is not from before the loss left its range at `left_step`. A checkpoint
/// holds the weights whose loss the next step measures, so that is the step before.
inline std::int64_t first_step_not_to_resume(std::int64_t left_step) {
  return left_step - 1;
}

/// Returns a sentence, without its full stop, on how to continue after the loss has left its range at `left_step`: from
/// the newest checkpoint from before that (best.h5 is one of them), or from the beginning.
std::string describe_way_back(const std::string& checkpoints, std::int64_t left_step);

/// Returns the name of the first tensor with a value that is not a finite number; empty if all values are finite.
std::string find_not_finite(const std::vector<io::NamedTensor>& weights);

/// Throws DivergenceError: the weights of `step` have such a tensor, and restarts would resume from the checkpoint
/// again and again.
[[noreturn]] void refuse_to_save(const std::string& not_finite, std::int64_t step, const LossRange& range,
                                 const std::string& checkpoints);

}  // namespace convoy
