/// Loops over pixels that use the processor's vectors: the sums of a resampled row.
#pragma once

#include <cstdint>

namespace convoy::pixel_kernels {

/// Number of values after the last one of `between` and of `sums` that are readable, and may be written.
inline constexpr std::int64_t kSlack = 4;

/// Computes values[i] = bytes[i] for i < count.
void widen(const std::uint8_t* bytes, std::int64_t count, float* values);

/// Weights of the neighbours that make one value of the result.
struct Weights {
  const double* of = nullptr;  ///< (taps): multiples of 2^-14 that sum to 1
  std::int64_t taps = 0;
};

/// The latest widened rows, in a ring: row y is stored at values + y % taps * count.
struct Rows {
  const float* values = nullptr;
  std::int64_t first = 0;
};

/// Computes between[i] = sum over t of weight[t] * row[first + t][i], exactly, for i < count.
void add_rows(const Rows& rows, const Weights& weights, std::int64_t count, double* between);

/// Describes how the columns of a row are added: out pixel x = sum over t of weights.of[x * taps + t] *
/// between[first[x] + t].
struct Columns {
  const std::int64_t* first = nullptr;  ///< (num_pixels)
  std::int64_t num_pixels = 0;
  std::int64_t begin = 0;  ///< column that `between` begins with
  std::int64_t channels = 0;
  Weights weights;  ///< (num_pixels, taps)
};

/// Computes out (num_pixels, channels), rounded to nearest. `sums` holds the same number of values meanwhile.
void add_columns(const double* between, const Columns& columns, std::int32_t* sums, std::uint8_t* out);

}  // namespace convoy::pixel_kernels
