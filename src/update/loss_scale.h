/// Keeps the small gradients of fp16 from vanishing: the loss's gradient is multiplied by a scale, the update divides
/// by it. Micikevicius et al. 2018, "Mixed precision training", section 3.2.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy {

/// All ranks hold the same. A power of two, so that scaling rounds nothing that does not vanish.
struct LossScaleState {
  double scale = 1;
  std::int64_t good_steps = 0;  ///< in a row, at this scale

  bool operator==(const LossScaleState&) const = default;
};

class LossScale {
 public:
  /// Dynamic for fp16; for other types the scale is 1, and steps are not checked.
  explicit LossScale(DataType type);

  bool is_dynamic() const { return is_dynamic_; }
  double scale() const { return state_.scale; }
  /// Whether one more overflow would be too many.
  bool is_smallest() const;
  const LossScaleState& state() const { return state_; }
  void restore(const LossScaleState& state);

  /// After each step: halves the scale where a gradient overflowed (the step was skipped), doubles it after a long run
  /// of good steps. Throws Error where the scale has fallen so low that something else is wrong.
  void end_step(bool overflowed);

 private:
  bool is_dynamic_;
  LossScaleState state_;
};

}  // namespace convoy
