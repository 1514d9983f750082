/// The weight gradient of a convolution with 3x3 filters and few channels in bf16, computed by the processor's
/// instructions for products of bf16 (AVX-512).
#pragma once

#include <memory>

#include "convoy/ops/convolution.h"

#include "ops/cpu/convolution/convolution_directions.h"
#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// Creates the weight gradient. Returns null if oneDNN is faster, as on processors with AMX, or if the processor has no
/// AVX-512 products of bf16.
std::unique_ptr<ConvolutionWeightGradient> make_bf16_weight_gradient(const ConvolutionSpec& spec, Workspace& workspace);

}  // namespace convoy::ops::cpu
