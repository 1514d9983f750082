/// The shapes of convolutions that a CPU computes by Winograd's products. The memory plan needs to know them, too,
/// since transformed filters are larger.
#pragma once

#include "convoy/ops/convolution.h"

namespace convoy::ops {

/// The pixels of a square of x: from 4x4 pixels and a transformed filter follow 2x2 pixels of y (ops/cpu/winograd.h).
inline constexpr std::int64_t kWinogradPositions = 16;

/// Whether y, dx and dw take less time by Winograd's products than by a direct convolution.
bool saves_by_winograd(const ConvolutionSpec& spec);

}  // namespace convoy::ops
