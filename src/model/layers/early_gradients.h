/// Gradients of parameters that backward_input computes in the same pass as the gradient with respect to the input:
/// those of a normalisation's scale and shift.
#pragma once

#include "convoy/model/cell.h"
#include "convoy/ops/elementwise.h"

namespace convoy {

/// The memory of gradients that backward_input computes although they are those of parameters. It is a part of
/// Frame::gradients. If the frame splits backward, it is a part of Frame::weight_gradient_inputs, from which
/// backward_weight copies them to Frame::gradients later.
class EarlyGradients {
 public:
  EarlyGradients() = default;
  /// Reserves memory for the gradients of the parameters from `first` to `last`, which follow one another in the
  /// parameter arena. `last` has `last_count` values.
  EarlyGradients(CellMemory& memory, ParameterRef first, ParameterRef last, std::int64_t last_count)
      : first_(first.offset),
        bytes_((last.offset + last_count - first.offset) * static_cast<std::int64_t>(sizeof(float))),
        stored_(memory.weight_gradient_input(bytes_)) {}

  /// Returns the address to which backward_input must write the gradient of p; null if it is not wanted, as in a frozen
  /// cell.
  float* at(const Frame& frame, ParameterRef p) const {
    if (frame.splits_backward()) return reinterpret_cast<float*>(frame[stored_]) + (p.offset - first_);
    return frame.gradients == nullptr ? nullptr : frame.gradient(p);
  }
  /// Copies the gradients to Frame::gradients if the frame splits backward; else does nothing. Called by
  /// backward_weight.
  void finish(const Frame& frame, ops::ElementwiseOps& elementwise) const {
    if (frame.splits_backward()) elementwise.copy(frame[stored_], frame.gradient({first_}), bytes_);
  }

 private:
  std::int64_t first_ = 0, bytes_ = 0;
  TensorLocation stored_;
};

}  // namespace convoy
