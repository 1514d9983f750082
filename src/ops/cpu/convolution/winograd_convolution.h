/// The forward pass and the data gradient of a convolution by Winograd's algorithm (winograd.h): float32, 3x3 filters.
#pragma once

#include <memory>

#include "convoy/ops/convolution.h"

#include "ops/cpu/convolution/convolution_directions.h"
#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// Creates the forward pass. Returns null if oneDNN is faster, or if Winograd's algorithm cannot compute it.
std::unique_ptr<ConvolutionDirection> make_winograd_forward(const ConvolutionSpec& spec, Workspace& workspace);
/// Creates the data gradient. Returns null if oneDNN is faster, or if Winograd's algorithm cannot compute it.
std::unique_ptr<ConvolutionDirection> make_winograd_backward_input(const ConvolutionSpec& spec, Workspace& workspace);

}  // namespace convoy::ops::cpu
