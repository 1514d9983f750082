/// Where the first pass of a batch norm's backward writes g, the output's gradient where the ReLU let it through.
#pragma once

#include "convoy/ops/batch_norm.h"

namespace convoy::ops {

/// Null: nowhere, as dy is g, or x tells the second pass where the ReLU let through.
inline void* masked_gradient(const BatchNormSpec& spec, const BatchNormGradInputs& in,
                             const BatchNormGradOutputs& out) {
  const bool dy_is_g = !spec.relu && in.dy_addend == nullptr && out.dresidual == in.dy;
  return spec.residual && !dy_is_g ? out.dresidual : nullptr;
}

}  // namespace convoy::ops
