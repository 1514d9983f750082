/// Gradients of parameters that are computed in the same pass as the gradient with respect to the input: those of a
/// normalisation's scale and shift.
#pragma once

#include "convoy/model/cell.h"
#include "convoy/ops/elementwise.h"

namespace convoy {

/// The location of these gradients: in the arena; in a split backward in the frame, until backward_weight copies them.
class EarlyGradients {
 public:
  EarlyGradients() = default;
  /// Gradients of parameters that are neighbours in the arena, from `first` to `last`, which has `last_count` values.
  EarlyGradients(CellMemory& memory, ParameterRef first, ParameterRef last, std::int64_t last_count)
      : first_(first.offset),
        bytes_((last.offset + last_count - first.offset) * static_cast<std::int64_t>(sizeof(float))),
        stored_(memory.weight_gradient_input(bytes_)) {}

  /// The address to which backward_input writes the gradient of p; null if it is not wanted, in a frozen cell.
  float* at(const Frame& frame, ParameterRef p) const {
    if (frame.splits_backward()) return reinterpret_cast<float*>(frame[stored_]) + (p.offset - first_);
    return frame.gradients == nullptr ? nullptr : frame.gradient(p);
  }
  /// Called by backward_weight: copies the gradients of a split backward to the arena.
  void finish(const Frame& frame, ops::ElementwiseOps& elementwise) const {
    if (frame.splits_backward()) elementwise.copy(frame[stored_], frame.gradient({first_}), bytes_);
  }

 private:
  std::int64_t first_ = 0, bytes_ = 0;
  TensorLocation stored_;
};

}  // namespace convoy
