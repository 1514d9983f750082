/// Keeps small fp16 gradients from becoming zero: the gradient of the loss is multiplied by a scale, by which the
/// update divides. Micikevicius et al. 2018, "Mixed precision training", section 3.2.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy {

/// The state of the loss scale, the same on all ranks. The scale is a power of two, so that multiplying by it does not
/// round values, except those that are too small for fp16.
struct LossScaleState {
  double scale = 1;
  std::int64_t good_steps = 0;  ///< number of steps without an overflow since the scale last changed

  bool operator==(const LossScaleState&) const = default;
};

/// The loss scale of a training.
class LossScale {
 public:
  /// `type` is the type of the network's activations. The scale is dynamic for fp16; for other types it is always 1.
  explicit LossScale(DataType type);

  bool is_dynamic() const { return is_dynamic_; }
  double scale() const { return state_.scale; }
  /// Whether the scale has its smallest value: at the next overflow, end_step() throws Error.
  bool is_smallest() const;
  const LossScaleState& state() const { return state_; }
  /// Continues with the state of a checkpoint. Ignored if the scale is not dynamic, or if the checkpoint has no dynamic
  /// scale.
  void restore(const LossScaleState& state);

  /// Called after each training step that was applied or overflowed. Halves the scale if a gradient overflowed (that
  /// step was skipped), doubles it, up to 2^24, after 2,000 steps in a row without an overflow. Throws Error if the
  /// scale would fall below its smallest value, 2^-14: then the training has diverged. Does nothing if the scale is not
  /// dynamic.
  void end_step(bool overflowed);

 private:
  bool is_dynamic_;
  LossScaleState state_;
};

}  // namespace convoy
