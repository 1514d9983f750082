/// The weight gradient of a convolution as one matrix product, of dy and of the windows of x. oneDNN computes the
/// product faster than the gradient where windows are pixels, and where they are few or far apart.
#pragma once

#include <memory>

#include "convoy/ops/convolution.h"

#include "ops/cpu/convolution_directions.h"
#include "ops/cpu/dnnl_call.h"

namespace convoy::ops::cpu {

/// Null where a gradient is faster, or oneDNN does not have the product in spec.type for this processor.
std::unique_ptr<ConvolutionWeightGradient> make_window_weight_gradient(const ConvolutionSpec& spec,
                                                                       DnnlRuntime& runtime);

}  // namespace convoy::ops::cpu
