/// Convolutions with 3x3 filters by fewer products: Winograd's minimal filtering F(2x2, 3x3), as in Lavin & Gray 2016,
/// "Fast algorithms for convolutional neural networks", section 4.1.
/// Include it, as simd.h, only in files that are compiled with -march=CONVOY_ARCH.
///
/// A square of 2x2 pixels of y depends on one of 4x4 pixels of x. With d such a square of x for one channel, g the
/// filter for that channel, and * for products value by value:
///
///   y = A^T [sum over channels of (G g G^T) * (B^T d B)] A      16 products; a direct convolution has 36
///
///         1  0 -1  0            1    0    0              1  0
///   B^T = 0  1  1  0        G = 1/2  1/2  1/2        A = 1  1
///         0 -1  1  0            1/2 -1/2  1/2            1 -1
///         0 -1  0  1            0    0    1              0  1
///
/// For each of the 16 positions the sum over channels is a matrix product of squares and filters. The gradient with
/// respect to g is the transposed map: dg = G^T [sum over squares of (A dy A^T) * (B^T d B)] G.
///
/// For random values and 32 to 256 channels, errors of y and dx are 0.6 times those of a direct convolution in float32,
/// since sums have a ninth of the terms. Errors of dw are twice as large.
#pragma once

#include <array>
#include <cstdint>

#include "convoy/base/shape.h"
#include "convoy/ops/convolution.h"

#include "ops/cpu/parallel.h"
#include "ops/cpu/simd.h"
#include "ops/winograd_rule.h"

namespace convoy::ops::cpu::winograd {

constexpr std::int64_t kRows = 4;                        // rows of a square of x, and of its 4x4 transformed values
constexpr std::int64_t kPositions = kWinogradPositions;  // number of transformed values of a square, for one channel

/// The 2x2 squares into which the result `to` (N,P,Q,.) of a convolution of `from` (N,H,W,.) is divided, in the order
/// of its pixels.
struct Squares {
  Shape from, to;
  std::int64_t padding = 0;

  std::int64_t rows() const { return (to.h + 1) / 2; }
  std::int64_t columns() const { return (to.w + 1) / 2; }
  std::int64_t count() const { return to.n * rows() * columns(); }

  /// The sample, row and column of a square's first pixel in the result.
  struct Place {
    std::int64_t sample, row, column;
  };
  /// Calls body(i, the Place of square range.begin + i) for each square of a range.
  template <typename Body>
  [[gnu::always_inline]] void for_each(const Range& range, const Body& body) const {
    Place place = {range.begin / (rows() * columns()), range.begin / columns() % rows() * 2,
                   range.begin % columns() * 2};
    for (std::int64_t i = 0; i < range.end - range.begin; ++i) {
      body(i, place);
      place.column += 2;
      if (place.column < to.w) continue;
      place.column = 0, place.row += 2;
      if (place.row >= to.h) place.row = 0, ++place.sample;
    }
  }
};

/// Returns whether y, dx and dw of a convolution are computed faster by Winograd's algorithm than by oneDNN. They are
/// not if this code is compiled for vectors of 128 bits: oneDNN asks the processor at run time, and uses longer
/// vectors.
inline bool is_faster(const ConvolutionSpec& spec) {
  constexpr std::int64_t kMinVectorBytes = 32;
  return kVectorBytes >= kMinVectorBytes && saves_by_winograd(spec);
}

/// The layout of a matrix in panels of `width` columns, so that a product reads memory from one address on without
/// gaps: a matrix (rows,columns) is stored as (columns / width, rows, width).
struct Panels {
  /// Chooses panels of 32 columns, or of 16 if num_columns is no multiple of 32: as many as a product computes at once.
  explicit Panels(std::int64_t num_columns) : Panels(num_columns, num_columns % 32 == 0 ? 5 : 4) {}
  Panels(std::int64_t num_columns, int log2_of_width)
      : columns(num_columns), width(std::int64_t{1} << log2_of_width), log2_width(log2_of_width) {}

  std::int64_t columns, width;
  int log2_width;  ///< log2 of width: offset(), which is called for each vector, shifts instead of dividing

  std::int64_t count() const { return columns / width; }
  /// Returns the offset, in values, of row 0 of the column in a matrix with `rows` rows. Each further row adds `width`.
  std::int64_t offset(std::int64_t rows, std::int64_t column) const {
    return ((column >> log2_width) * rows << log2_width) + (column & (width - 1));
  }
};

/// Pointers to the pixels of a square of `size` by `size` pixels in a tensor (N,H,W,C). Pixels beyond the border of the
/// image point to C zeros.
template <std::int64_t size>
class SquarePixels {
 public:
  SquarePixels(const float* values, const Shape& shape, const Squares::Place& first, const float* zeros) {
    const std::int64_t row_stride = shape.w * shape.c;
    const float* const pixel = values + (first.sample * shape.h + first.row) * row_stride + first.column * shape.c;
    const auto is_inside = [](std::int64_t i, std::int64_t count) { return i >= 0 && i < count; };
    const bool all_inside =
        first.row >= 0 && first.row + size <= shape.h && first.column >= 0 && first.column + size <= shape.w;
#pragma GCC unroll 4
    for (std::int64_t r = 0; r < size; ++r) {
#pragma GCC unroll 4
      for (std::int64_t s = 0; s < size; ++s)
        pixels_[static_cast<std::size_t>(r * size + s)] =
            all_inside || (is_inside(first.row + r, shape.h) && is_inside(first.column + s, shape.w))
                ? pixel + r * row_stride + s * shape.c
                : zeros;
    }
  }

  [[gnu::always_inline]] Vec read_channels(std::int64_t row, std::int64_t column, std::int64_t channel) const {
    return read<Vec>(pixels_[static_cast<std::size_t>(row * size + column)] + channel);
  }

 private:
  std::array<const float*, static_cast<std::size_t>(size* size)> pixels_;
};

/// Returns row `row` of B^T d for one column (d0, d1, d2, d3) of d, with B as at the top of winograd.h.
template <std::int64_t row>
[[gnu::always_inline]] inline Vec row_of_data(Vec d0, Vec d1, Vec d2, Vec d3) {
  if constexpr (row == 0) return d0 - d2;
  if constexpr (row == 1) return d1 + d2;
  if constexpr (row == 2) return d2 - d1;
  return d3 - d1;
}

/// Writes the four values of one row of d B, with B as at the top of winograd.h, `stride` floats apart. Returns the
/// pointer for the next row.
[[gnu::always_inline]] inline float* write_row_of_data(const Vec (&d)[kRows], float* to, std::int64_t stride) {
  write(to, row_of_data<0>(d[0], d[1], d[2], d[3]));
  write(to + stride, row_of_data<1>(d[0], d[1], d[2], d[3]));
  write(to + 2 * stride, row_of_data<2>(d[0], d[1], d[2], d[3]));
  write(to + 3 * stride, row_of_data<3>(d[0], d[1], d[2], d[3]));
  return to + kRows * stride;
}

/// Returns row `row` of A dy for one column (dy0, dy1) of dy, with A as at the top of winograd.h.
template <std::int64_t row>
[[gnu::always_inline]] inline Vec row_of_gradient(Vec dy0, Vec dy1) {
  if constexpr (row == 0) return dy0;
  if constexpr (row == 1) return dy0 + dy1;
  if constexpr (row == 2) return dy0 - dy1;
  return dy1;
}

/// Writes the four values of one row of dy A^T, with A as at the top of winograd.h, `stride` floats apart. Returns the
/// pointer for the next row.
[[gnu::always_inline]] inline float* write_row_of_gradient(Vec left, Vec right, float* to, std::int64_t stride) {
  write(to, row_of_gradient<0>(left, right));
  write(to + stride, row_of_gradient<1>(left, right));
  write(to + 2 * stride, row_of_gradient<2>(left, right));
  write(to + 3 * stride, row_of_gradient<3>(left, right));
  return to + kRows * stride;
}

}  // namespace convoy::ops::cpu::winograd
