/// dx of 1x1 convolutions, as a forward convolution of dy, which oneDNN computes faster than a data gradient.
#pragma once

#include <memory>

#include "convoy/ops/convolution.h"

#include "ops/cpu/convolution_directions.h"
#include "ops/cpu/dnnl_call.h"

namespace convoy::ops::cpu {

/// Whether each pixel of y depends on one pixel of x alone.
bool is_pointwise(const ConvolutionSpec& spec);

/// Returns null if oneDNN does not have this convolution in spec.type for this processor.
std::unique_ptr<ConvolutionDirection> make_pointwise_backward_input(const ConvolutionSpec& spec, DnnlRuntime& runtime);

}  // namespace convoy::ops::cpu
