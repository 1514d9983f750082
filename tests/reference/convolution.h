/// Convolution as seven loops in double: the oracle of ConvolutionOp.
#pragma once

#include "convoy/ops/convolution.h"

#include "reference/array.h"

namespace convoy::reference {

/// Calls body(x's index, w's index, y's index) for every product of the convolution.
template <typename Body>
void for_each_product(const ops::ConvolutionSpec& spec, Body&& body) {
  const Shape x = spec.x, y = spec.y();
  const std::int64_t channels = spec.filter_channels(), filters = y.c / spec.groups;  // of a group
  for (std::int64_t n = 0; n < y.n; ++n)
    for (std::int64_t p = 0; p < y.h; ++p)
      for (std::int64_t q = 0; q < y.w; ++q)
        for (std::int64_t k = 0; k < y.c; ++k)
          for (std::int64_t r = 0; r < spec.kernel; ++r)
            for (std::int64_t s = 0; s < spec.kernel; ++s) {
              const std::int64_t h = p * spec.stride - spec.padding + r * spec.dilation,
                                 w = q * spec.stride - spec.padding + s * spec.dilation;
              if (h < 0 || h >= x.h || w < 0 || w >= x.w) continue;
              for (std::int64_t c = 0; c < channels; ++c) {
                body(index(((n * x.h + h) * x.w + w) * x.c + k / filters * channels + c),
                     index(((k * spec.kernel + r) * spec.kernel + s) * channels + c),
                     index(((n * y.h + p) * y.w + q) * y.c + k));
              }
            }
}

inline Array convolution(const ops::ConvolutionSpec& spec, const Array& x, const Array& w) {
  Array y(index(spec.y().count()));
  for_each_product(spec, [&](std::size_t ix, std::size_t iw, std::size_t iy) { y[iy] += x[ix] * w[iw]; });
  return y;
}

inline Array convolution_input(const ops::ConvolutionSpec& spec, const Array& dy, const Array& w) {
  Array dx(index(spec.x.count()));
  for_each_product(spec, [&](std::size_t ix, std::size_t iw, std::size_t iy) { dx[ix] += dy[iy] * w[iw]; });
  return dx;
}

inline Array convolution_weight(const ops::ConvolutionSpec& spec, const Array& x, const Array& dy) {
  Array dw(index(spec.weight_count()));
  for_each_product(spec, [&](std::size_t ix, std::size_t iw, std::size_t iy) { dw[iw] += x[ix] * dy[iy]; });
  return dw;
}

}  // namespace convoy::reference
