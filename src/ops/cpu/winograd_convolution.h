/// y of x, or dx of dy, by Winograd's products (winograd.h): in float32, with 3x3 filters.
#pragma once

#include <memory>

#include "convoy/ops/convolution.h"

#include "ops/cpu/convolution_directions.h"
#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// Null where oneDNN is faster, or these products do not apply.
std::unique_ptr<ConvolutionDirection> make_winograd_forward(const ConvolutionSpec& spec, Workspace& workspace);
/// Likewise.
std::unique_ptr<ConvolutionDirection> make_winograd_backward_input(const ConvolutionSpec& spec, Workspace& workspace);

}  // namespace convoy::ops::cpu
