/// The directions of a convolution, y of x and dx of dy, by Winograd's products (winograd.h): float32, 3x3 filters.
#pragma once

#include <memory>

#include "convoy/ops/convolution.h"

#include "ops/cpu/convolution_directions.h"
#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// Returns null if oneDNN is faster, or if Winograd's products do not apply.
std::unique_ptr<ConvolutionDirection> make_winograd_forward(const ConvolutionSpec& spec, Workspace& workspace);
/// Returns null if oneDNN is faster, or if Winograd's products do not apply.
std::unique_ptr<ConvolutionDirection> make_winograd_backward_input(const ConvolutionSpec& spec, Workspace& workspace);

}  // namespace convoy::ops::cpu
