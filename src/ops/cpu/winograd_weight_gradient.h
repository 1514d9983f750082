/// The weight gradient, dw of x and dy, by Winograd's products (winograd.h): float32, 3x3 filters.
#pragma once

#include <memory>

#include "convoy/ops/convolution.h"

#include "ops/cpu/convolution_directions.h"
#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// Returns null if oneDNN is faster, or if Winograd's products do not apply.
std::unique_ptr<ConvolutionWeightGradient> make_winograd_weight_gradient(const ConvolutionSpec& spec,
                                                                         Workspace& workspace);

}  // namespace convoy::ops::cpu
