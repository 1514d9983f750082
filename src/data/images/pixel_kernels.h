/// Loops with vector instructions for resizing images: weighted sums over rows, then over columns.
#pragma once

#include <cstdint>

namespace convoy::pixel_kernels {

/// Number of additional values for which the arrays `between` and `sums` must have memory after their last value. The
/// functions may read and overwrite them.
inline constexpr std::int64_t kSlack = 4;

/// Computes values[i] = bytes[i] for i < count.
void widen(const std::uint8_t* bytes, std::int64_t count, float* values);

/// The weights of the neighbouring pixels whose sum is one value of the result.
struct Weights {
  const double* of = nullptr;  ///< (taps): multiples of 2^-14 whose sum is 1
  std::int64_t taps = 0;       ///< number of neighbours
};

/// The last rows that were converted to floats, in a ring buffer: row y, of `count` values, is at values + y % taps *
/// count.
struct Rows {
  const float* values = nullptr;
  std::int64_t first = 0;  ///< number of the first row that add_rows() reads
};

/// Computes the weighted sum of rows, without rounding: between[i] = sum over t < taps of weights.of[t] times value i
/// of row rows.first + t, for i < count.
void add_rows(const Rows& rows, const Weights& weights, std::int64_t count, double* between);

/// The weighted sums over columns that make one row of the result: pixel x = sum over t < taps of weights.of[x * taps +
/// t] times pixel first[x] + t of the row `between`.
struct Columns {
  const std::int64_t* first = nullptr;  ///< (num_pixels): first column of the picture that each pixel depends on
  std::int64_t num_pixels = 0;          ///< number of pixels of a row of the result
  std::int64_t begin = 0;               ///< column of the picture with which `between` begins
  std::int64_t channels = 0;
  Weights weights;  ///< (num_pixels, taps)
};

/// Computes a row `out` (num_pixels, channels) of the result, rounded to nearest. `sums` is scratch memory for as many
/// values, and kSlack more.
void add_columns(const double* between, const Columns& columns, std::int32_t* sums, std::uint8_t* out);

}  // namespace convoy::pixel_kernels
