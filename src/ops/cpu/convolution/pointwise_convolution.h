/// The data gradient of 1x1 convolutions, computed as a forward convolution of dy: oneDNN computes that faster.
#pragma once

#include <memory>

#include "convoy/ops/convolution.h"

#include "ops/cpu/convolution/convolution_directions.h"
#include "ops/cpu/onednn/dnnl_call.h"

namespace convoy::ops::cpu {

/// Returns whether this is a 1x1 convolution without padding and groups: each pixel of y depends on one pixel of x
/// only.
bool is_pointwise(const ConvolutionSpec& spec);

/// Creates the data gradient. Returns null if the convolution is not pointwise, or if oneDNN has no optimised
/// implementation of it in spec.type for this processor.
std::unique_ptr<ConvolutionDirection> make_pointwise_backward_input(const ConvolutionSpec& spec, DnnlRuntime& runtime);

}  // namespace convoy::ops::cpu
