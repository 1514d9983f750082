/// The sizes of the values that Winograd's products F(2x2, 3x3) add up, as units of their rounding errors. The
/// transforms and sums are those of Lavin & Gray 2016, section 4.1, with absolute values and absolute factors.
#pragma once

#include <array>
#include <cmath>

#include "convoy/ops/convolution.h"

#include "reference/array.h"

namespace convoy::reference::winograd {

template <std::size_t rows, std::size_t columns>
using Matrix = std::array<std::array<double, columns>, rows>;

// |B^T|, |G| and |A|
inline constexpr Matrix<4, 4> kData = {{{1, 0, 1, 0}, {0, 1, 1, 0}, {0, 1, 1, 0}, {0, 1, 0, 1}}};
inline constexpr Matrix<4, 3> kFilter = {{{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}, {0, 0, 1}}};
inline constexpr Matrix<4, 2> kResult = {{{1, 0}, {1, 1}, {1, 1}, {0, 1}}};

/// F v F^T
template <std::size_t rows, std::size_t size>
Matrix<rows, rows> to_positions(const Matrix<rows, size>& factor, const Matrix<size, size>& v) {
  Matrix<rows, rows> m{};
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < rows; ++j)
      for (std::size_t r = 0; r < size; ++r)
        for (std::size_t s = 0; s < size; ++s) m[i][j] += factor[i][r] * v[r][s] * factor[j][s];
  return m;
}

/// F^T m F
template <std::size_t size>
Matrix<size, size> from_positions(const Matrix<4, size>& factor, const Matrix<4, 4>& m) {
  Matrix<size, size> v{};
  for (std::size_t r = 0; r < size; ++r)
    for (std::size_t s = 0; s < size; ++s)
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j) v[r][s] += factor[i][r] * m[i][j] * factor[j][s];
  return v;
}

/// Whether a device may compute this convolution by Winograd's products.
inline bool applies(const ops::ConvolutionSpec& spec) {
  return spec.kernel == 3 && spec.stride == 1 && spec.groups == 1 && spec.dilation == 1 && spec.padding <= 2;
}

/// The absolute values in a square of (N,H,W,C), 0 beyond the borders.
template <std::size_t size>
Matrix<size, size> square(const Array& values, const Shape& shape, const Shape& first) {
  Matrix<size, size> v{};
  for (std::size_t r = 0; r < size; ++r)
    for (std::size_t s = 0; s < size; ++s) {
      const std::int64_t h = first.h + static_cast<std::int64_t>(r), w = first.w + static_cast<std::int64_t>(s);
      if (h >= 0 && h < shape.h && w >= 0 && w < shape.w)
        v[r][s] = std::abs(values[index(((first.n * shape.h + h) * shape.w + w) * shape.c + first.c)]);
    }
  return v;
}

/// Calls body(n, p, q) with the first pixel of each square of y.
template <typename Body>
void for_each_square(const Shape& y, Body&& body) {
  for (std::int64_t n = 0; n < y.n; ++n)
    for (std::int64_t p = 0; p < y.h; p += 2)
      for (std::int64_t q = 0; q < y.w; q += 2) body(n, p, q);
}

/// The scale of y, the sums of its absolute terms. `w` is (K,3,3,C).
inline Array scale_of_result(const ops::ConvolutionSpec& spec, const Array& x, const Array& w) {
  const Shape y = spec.y();
  const std::int64_t channels = spec.x.c;
  std::vector<Matrix<4, 4>> filters(index(y.c * channels)), data(index(channels));
  for (std::int64_t k = 0; k < y.c; ++k)
    for (std::int64_t c = 0; c < channels; ++c)
      filters[index(k * channels + c)] =
          to_positions(kFilter, square<3>(w, Shape::images(y.c, 3, 3, channels), {.n = k, .c = c}));
  Array result(index(y.count()));
  for_each_square(y, [&](std::int64_t n, std::int64_t p, std::int64_t q) {
    for (std::int64_t c = 0; c < channels; ++c)
      data[index(c)] =
          to_positions(kData, square<4>(x, spec.x, {.n = n, .h = p - spec.padding, .w = q - spec.padding, .c = c}));
    for (std::int64_t k = 0; k < y.c; ++k) {
      Matrix<4, 4> sum{};
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::size_t i = 0; i < 16; ++i)
          sum[i / 4][i % 4] += filters[index(k * channels + c)][i / 4][i % 4] * data[index(c)][i / 4][i % 4];
      const Matrix<2, 2> pixels = from_positions(kResult, sum);
      for (std::int64_t r = 0; r < 2 && p + r < y.h; ++r)
        for (std::int64_t s = 0; s < 2 && q + s < y.w; ++s)
          result[index(((n * y.h + p + r) * y.w + q + s) * y.c + k)] = pixels[index(r)][index(s)];
    }
  });
  return result;
}

/// The scale of dx, which is the convolution of dy with the filters turned by half a turn.
inline Array scale_of_dx(const ops::ConvolutionSpec& spec, const Array& dy, const Array& w) {
  const std::int64_t channels = spec.x.c, filters = spec.num_filters;
  Array turned(w.size());
  for (std::int64_t k = 0; k < filters; ++k)
    for (std::int64_t i = 0; i < 9; ++i)
      for (std::int64_t c = 0; c < channels; ++c)
        turned[index((c * 9 + 8 - i) * filters + k)] = w[index((k * 9 + i) * channels + c)];
  return scale_of_result({spec.y(), channels, 3, 1, 2 - spec.padding}, dy, turned);
}

/// The scale of dw (K,3,3,C).
inline Array scale_of_dw(const ops::ConvolutionSpec& spec, const Array& x, const Array& dy) {
  const Shape y = spec.y();
  const std::int64_t channels = spec.x.c;
  std::vector<Matrix<4, 4>> sums(index(y.c * channels)), data(index(channels));
  for_each_square(y, [&](std::int64_t n, std::int64_t p, std::int64_t q) {
    for (std::int64_t c = 0; c < channels; ++c)
      data[index(c)] =
          to_positions(kData, square<4>(x, spec.x, {.n = n, .h = p - spec.padding, .w = q - spec.padding, .c = c}));
    for (std::int64_t k = 0; k < y.c; ++k) {
      const Matrix<4, 4> gradient = to_positions(kResult, square<2>(dy, y, {.n = n, .h = p, .w = q, .c = k}));
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::size_t i = 0; i < 16; ++i)
          sums[index(k * channels + c)][i / 4][i % 4] += gradient[i / 4][i % 4] * data[index(c)][i / 4][i % 4];
    }
  });
  Array result(index(spec.weight_count()));
  for (std::int64_t k = 0; k < y.c; ++k)
    for (std::int64_t c = 0; c < channels; ++c) {
      const Matrix<3, 3> filter = from_positions(kFilter, sums[index(k * channels + c)]);
      for (std::size_t i = 0; i < 9; ++i)
        result[(index(k) * 9 + i) * index(channels) + index(c)] = filter[i / 3][i % 3];
    }
  return result;
}

}  // namespace convoy::reference::winograd
