/// The weight gradient, dw of x and dy, by the processor's products of two bf16 (AVX-512): for 3x3 filters on few
/// channels.
#pragma once

#include <memory>

#include "convoy/ops/convolution.h"

#include "ops/cpu/convolution_directions.h"
#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// Returns null if oneDNN is faster, or if the processor does not have these products.
std::unique_ptr<ConvolutionWeightGradient> make_bf16_weight_gradient(const ConvolutionSpec& spec, Workspace& workspace);

}  // namespace convoy::ops::cpu
