/// The memory to which the first pass of a batch norm's backward writes g: the output's gradient if the ReLU let the
/// value through, else 0.
#pragma once

#include "convoy/ops/batch_norm.h"

namespace convoy::ops {

/// Returns where the first pass writes g, for the second pass to read it; null if it does not write g.
///   two branches                 the second dx, which the second pass then overwrites, if dy has two parts;
///                                else null: reading dy and the mask again costs no more than reading g
///   one branch and a residual    dresidual, whose values are g; null if it is the memory of dy, and dy is g already
///   one branch, no residual      null: dy is g, or the second pass finds the ReLU's mask from x
inline void* masked_gradient(const BatchNormSpec& spec, const BatchNormBackward& args) {
  if (spec.num_branches > 1) return args.dy_addend != nullptr ? args.branches[1].dx : nullptr;
  const bool dy_is_g = !spec.relu && args.dy_addend == nullptr && args.dresidual == args.dy;
  return spec.residual && !dy_is_g ? args.dresidual : nullptr;
}

}  // namespace convoy::ops
