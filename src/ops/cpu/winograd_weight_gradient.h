/// dw of x and dy by Winograd's products (winograd.h): in float32, with 3x3 filters.
#pragma once

#include <memory>

#include "convoy/ops/convolution.h"

#include "ops/cpu/convolution_directions.h"
#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// Null where oneDNN is faster, or these products do not apply.
std::unique_ptr<ConvolutionWeightGradient> make_winograd_weight_gradient(const ConvolutionSpec& spec,
                                                                         Workspace& workspace);

}  // namespace convoy::ops::cpu
