/// Detects that the loss of a run explodes: since which step, and from which checkpoint to resume.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/io/named_tensor.h"
#include "convoy/io/training_state.h"

namespace convoy {

/// Thrown if weights are infinite or NaN, so that further steps make no sense.
class DivergenceError : public Error {
 public:
  using Error::Error;
};

/// Checks whether the training loss stays in its range: everything below
///   2 * lowest + 0.1      lowest: smallest moving average of the loss so far (over 32 steps; at first, over all)
/// The loss is a cross-entropy in nats and falls from about ln(number of classes). Other samples, a rising learning
/// rate or the next epoch change it by a fraction of its lowest value, not to twice that; near zero the constant 0.1
/// allows for this. The loss leaves its range with the first step above it. It is back when both the step's loss and
/// the moving average are in the range.
class LossRange {
 public:
  /// Continues from the range that a checkpoint stores.
  explicit LossRange(const io::TrainingState& start)
      : average_(start.loss_average), lowest_(start.loss_lowest), left_step_(start.loss_left_step) {}

  /// Adds the mean loss of step number `step`, counted from 1. The loss may be infinite or NaN.
  void add(std::int64_t step, double loss);
  /// Number of the step with which the loss left its range; 0 while it is in the range.
  std::int64_t left_step() const { return left_step_; }
  /// Upper end of the range; infinite before the first step.
  double limit() const { return 2 * lowest_ + 0.1; }
  /// Writes the range to the state of a checkpoint.
  void save_to(io::TrainingState& state) const;

 private:
  double average_, lowest_;
  std::int64_t left_step_;
};

/// Returns the lowest step whose checkpoint must not be resumed after the loss left its range in step `left_step`. The
/// loss of a step is that of the weights before the step, which the checkpoint of the previous step holds.
inline std::int64_t first_step_not_to_resume(std::int64_t left_step) {
  return left_step - 1;
}

/// Returns a sentence, without its full stop, on how to continue after the loss left its range in step `left_step`:
/// from the newest checkpoint before that, or from the beginning. `checkpoints` is the folder of the checkpoints.
/// Throws Error if it cannot be listed.
std::string describe_way_back(const std::string& checkpoints, std::int64_t left_step);

/// Returns the name of the first tensor that has an infinity or NaN; empty if all values are finite.
std::string find_not_finite(const std::vector<io::NamedTensor>& weights);

/// Throws DivergenceError, because the tensor `not_finite` has infinities or NaN after step `step`: a restart would
/// resume from the checkpoint again and again. `checkpoints` is the folder of the checkpoints.
[[noreturn]] void refuse_to_save(const std::string& not_finite, std::int64_t step, const LossRange& range,
                                 const std::string& checkpoints);

}  // namespace convoy
