/// Decides which convolutions a CPU computes by Winograd's algorithm. The memory plan needs to know this, too, since
/// transformed filters are larger.
#pragma once

#include "convoy/ops/convolution.h"

namespace convoy::ops {

/// The number of pixels of a square of x, and of values of a transformed 3x3 filter. Winograd's algorithm F(2x2, 3x3)
/// computes 2x2 pixels of y from a square of 4x4 pixels of x (ops/cpu/convolution/winograd.h).
inline constexpr std::int64_t kWinogradPositions = 16;

/// Returns whether the CPU computes y, dx and dw of this convolution by Winograd's algorithm, because that takes less
/// time than a direct convolution.
bool saves_by_winograd(const ConvolutionSpec& spec);

}  // namespace convoy::ops
