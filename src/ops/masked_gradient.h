/// The memory to which the first pass of a batch norm's backward writes g: the output's gradient if the ReLU let the
/// value through, else 0.
#pragma once

#include "convoy/ops/batch_norm.h"

namespace convoy::ops {

/// Returns out.dresidual if the first pass must write g; it is the residual's gradient, too. Returns null if it must
/// not: because dy is g already, or because there is no residual and the second pass finds the ReLU's mask from x.
inline void* masked_gradient(const BatchNormSpec& spec, const BatchNormGradInputs& in,
                             const BatchNormGradOutputs& out) {
  const bool dy_is_g = !spec.relu && in.dy_addend == nullptr && out.dresidual == in.dy;
  return spec.residual && !dy_is_g ? out.dresidual : nullptr;
}

}  // namespace convoy::ops
