/// Loops over pixels that are worth the processor's vectors: the sums of a resampled row.
#pragma once

#include <cstdint>

namespace convoy::pixel_kernels {

/// What is readable, and may be written, after the last value of `between` and of `sums`.
inline constexpr std::int64_t kSlack = 4;

/// values[i] = bytes[i]. i < count.
void widen(const std::uint8_t* bytes, std::int64_t count, float* values);

/// Neighbours that make one value of what comes out.
struct Weights {
  const double* of = nullptr;  ///< (taps): multiples of 2^-14 that sum to 1
  std::int64_t taps = 0;
};

/// Widened rows, the last ones in turn: row y stands at values + y % taps * count.
struct Rows {
  const float* values = nullptr;
  std::int64_t first = 0;
};

/// between[i] = sum over t of weight[t] * row[first + t][i], exact. i < count.
void add_rows(const Rows& rows, const Weights& weights, std::int64_t count, double* between);

/// How the columns of a row are added: out pixel x = sum over t of weights.of[x * taps + t] * between[first[x] + t].
struct Columns {
  const std::int64_t* first = nullptr;  ///< (num_pixels)
  std::int64_t num_pixels = 0;
  std::int64_t begin = 0;  ///< the column that `between` begins with
  std::int64_t channels = 0;
  Weights weights;  ///< (num_pixels, taps)
};

/// out (num_pixels, channels), to nearest. sums holds as many values for a moment.
void add_columns(const double* between, const Columns& columns, std::int32_t* sums, std::uint8_t* out);

}  // namespace convoy::pixel_kernels
