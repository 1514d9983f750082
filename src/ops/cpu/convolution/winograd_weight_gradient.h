/// The weight gradient of a convolution by Winograd's algorithm (winograd.h): float32, 3x3 filters.
#pragma once

#include <memory>

#include "convoy/ops/convolution.h"

#include "ops/cpu/convolution/convolution_directions.h"
#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// Creates the weight gradient. Returns null if oneDNN is faster, or if Winograd's algorithm cannot compute it.
std::unique_ptr<ConvolutionWeightGradient> make_winograd_weight_gradient(const ConvolutionSpec& spec,
                                                                         Workspace& workspace);

}  // namespace convoy::ops::cpu
