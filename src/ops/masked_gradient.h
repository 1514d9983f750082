/// The memory to which the first pass of a batch norm's backward writes g: the output's gradient if the ReLU let the
/// value through, else 0.
#pragma once

#include "convoy/ops/batch_norm.h"

namespace convoy::ops {

/// With two branches, returns the second dx, which the second pass overwrites, if dy has two parts; else null: reading
/// dy and the mask again costs no more than g. With one branch, returns dresidual, which is g. Returns null if dy is g
/// already, or if there is no residual and the second pass finds the ReLU's mask from x.
inline void* masked_gradient(const BatchNormSpec& spec, const BatchNormBackward& args) {
  if (spec.num_branches > 1) return args.dy_addend != nullptr ? args.branches[1].dx : nullptr;
  const bool dy_is_g = !spec.relu && args.dy_addend == nullptr && args.dresidual == args.dy;
  return spec.residual && !dy_is_g ? args.dresidual : nullptr;
}

}  // namespace convoy::ops
