/// Keeps the small gradients of fp16 from vanishing: the loss's gradient is multiplied by a scale, the update divides
/// by it. Micikevicius et al. 2018, "Mixed precision training", section 3.2.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy {

/// The state of the scale, the same on all ranks. The scale is a power of two, so that scaling rounds nothing that does
/// not vanish.
struct LossScaleState {
  double scale = 1;
  std::int64_t good_steps = 0;  ///< number of good steps in a row at this scale

  bool operator==(const LossScaleState&) const = default;
};

class LossScale {
 public:
  /// The scale is dynamic for fp16; for other types it is 1, and steps are not checked.
  explicit LossScale(DataType type);

  bool is_dynamic() const { return is_dynamic_; }
  double scale() const { return state_.scale; }
  /// Whether the scale has its smallest value: end_step() throws Error at one more overflow.
  bool is_smallest() const;
  const LossScaleState& state() const { return state_; }
  void restore(const LossScaleState& state);

  /// Called after each step: halves the scale if a gradient overflowed (the step was skipped), doubles it after a long
  /// run of good steps. Throws Error if the scale has fallen so low that something else must be wrong.
  void end_step(bool overflowed);

 private:
  bool is_dynamic_;
  LossScaleState state_;
};

}  // namespace convoy
