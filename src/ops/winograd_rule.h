/// Which shapes of convolutions a CPU computes by Winograd's products. The plan of memory asks for it, too: transformed
/// filters are larger.
#pragma once

#include "convoy/ops/convolution.h"

namespace convoy::ops {

/// Squares of 4x4 pixels of x make 2x2 of y from transformed filters (ops/cpu/winograd.h).
inline constexpr std::int64_t kWinogradPositions = 16;

/// Whether y, dx and dw take less time so than by a direct convolution.
bool saves_by_winograd(const ConvolutionSpec& spec);

}  // namespace convoy::ops
