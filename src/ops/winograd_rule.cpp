/// The limits were measured on a Xeon with AMX, with vectors of 256 and of 512 bits. With fewer channels the transforms
/// take as much time as the products save, and so do squares half of which is beyond the border.
#include "ops/winograd_rule.h"

#include <algorithm>

namespace convoy::ops {

namespace {

/// The number of products of a direct 3x3 convolution, divided by that of squares over the whole image.
double saving(const Shape& y) {
  const std::int64_t squares = y.n * ((y.h + 1) / 2) * ((y.w + 1) / 2);
  return 9 * static_cast<double>(y.pixels()) / static_cast<double>(kWinogradPositions * squares);
}

}  // namespace

bool saves_by_winograd(const ConvolutionSpec& spec) {
  constexpr std::int64_t kMinChannels = 32, kWholeVectors = 16;
  constexpr double kLeastSaving = 1.9;
  const auto fits = [](std::int64_t channels) { return channels >= kMinChannels && channels % kWholeVectors == 0; };
  if (spec.type != DataType::kFloat32 || spec.kernel != 3 || spec.stride != 1 || spec.padding > 2 || spec.groups > 1 ||
      spec.dilation > 1 || !fits(spec.x.c) || !fits(spec.num_filters))
    return false;
  return std::min(saving(spec.y()), saving(spec.x)) >= kLeastSaving;
}

std::int64_t ConvolutionSpec::packed_weight_count() const {
  return saves_by_winograd(*this) ? kWinogradPositions * x.c * num_filters : weight_count();
}

}  // namespace convoy::ops
