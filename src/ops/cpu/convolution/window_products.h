/// The weight gradient of a convolution as one matrix product, of dy and the windows of x (im2col). oneDNN computes
/// that faster than its weight gradient if windows are single pixels, or if they are few or far apart.
#pragma once

#include <memory>

#include "convoy/ops/convolution.h"

#include "ops/cpu/convolution/convolution_directions.h"
#include "ops/cpu/onednn/dnnl_call.h"

namespace convoy::ops::cpu {

/// Creates the weight gradient. Returns null if oneDNN's own weight gradient is faster, or if oneDNN has no optimised
/// matrix product in spec.type for this processor.
std::unique_ptr<ConvolutionWeightGradient> make_window_weight_gradient(const ConvolutionSpec& spec,
                                                                       DnnlRuntime& runtime);

}  // namespace convoy::ops::cpu
