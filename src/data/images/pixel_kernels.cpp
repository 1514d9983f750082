/// Compiled for the processor's vectors (CONVOY_ARCH); no bit depends on them. A byte times two weights of 14 bits has
/// 36 bits, 22 after the first sum: that one is exact in float32, both in double, in any order, products fused or not.
#include "data/images/pixel_kernels.h"

#include <cstddef>
#include <iterator>

namespace convoy::pixel_kernels {

namespace {

constexpr std::int64_t kLanes = __BIGGEST_ALIGNMENT__ / 4;

using Vec = float __attribute__((vector_size(4 * kLanes)));
using HalfVec = float __attribute__((vector_size(2 * kLanes)));
using LooseVec = float __attribute__((vector_size(4 * kLanes), may_alias, aligned(4)));
using LooseDoubles = double __attribute__((vector_size(4 * kLanes), may_alias, aligned(8)));

/// A pixel of three channels, and the value after it.
using Pixel = double __attribute__((vector_size(32)));
using LoosePixel = double __attribute__((vector_size(32), may_alias, aligned(8)));
using PixelWords = std::int32_t __attribute__((vector_size(16)));
using LoosePixelWords = std::int32_t __attribute__((vector_size(16), may_alias, aligned(4)));

[[gnu::always_inline]] inline void store(Vec v, double* to) {
  HalfVec low, high;
  for (int i = 0; i < kLanes / 2; ++i) {
    low[i] = v[i];
    high[i] = v[i + kLanes / 2];
  }
  *reinterpret_cast<LooseDoubles*>(to) = __builtin_convertvector(low, LooseDoubles);
  *reinterpret_cast<LooseDoubles*>(to + kLanes / 2) = __builtin_convertvector(high, LooseDoubles);
}

/// Adds the values [i, i + 2 kLanes).
[[gnu::always_inline]] inline void add_rows_at(std::int64_t i, const Rows& rows, const Weights& weights,
                                               std::int64_t count, double* between) {
  Vec a = {}, b = {};
  std::int64_t y = rows.first % weights.taps;
  for (std::int64_t t = 0; t < weights.taps; ++t) {
    const auto weight = static_cast<float>(weights.of[t]);
    const float* row = rows.values + y * count + i;
    a += weight * *reinterpret_cast<const LooseVec*>(row);
    b += weight * *reinterpret_cast<const LooseVec*>(row + kLanes);
    if (++y == weights.taps) y = 0;
  }
  store(a, between + i);
  store(b, between + i + kLanes);
}

/// kTaps = 0 means any number of taps.
template <int kTaps>
void add_columns_of_three(const double* between, const Columns& columns, std::int32_t* sums) {
  const std::int64_t taps = kTaps > 0 ? kTaps : columns.weights.taps;
  const double* weight = columns.weights.of;
  for (std::int64_t x = 0; x < columns.num_pixels; ++x, sums += 3, weight += taps) {
    const double* in = between + (columns.first[x] - columns.begin) * 3;
    Pixel sum = {0.5, 0.5, 0.5, 0.5};
    for (std::int64_t t = 0; t < taps; ++t) sum += weight[t] * *reinterpret_cast<const LoosePixel*>(in + 3 * t);
    *reinterpret_cast<LoosePixelWords*>(sums) = __builtin_convertvector(sum, PixelWords);
  }
}

// Functions that add three channels, by taps; past the table's end the one for any number of taps is used.
constexpr void (*kOfThreeByTaps[])(const double*, const Columns&, std::int32_t*) = {
    add_columns_of_three<0>, add_columns_of_three<0>, add_columns_of_three<2>,
    add_columns_of_three<3>, add_columns_of_three<4>, add_columns_of_three<5>};

void add_columns_of_any(const double* between, const Columns& columns, std::int32_t* sums) {
  const double* weight = columns.weights.of;
  for (std::int64_t x = 0; x < columns.num_pixels; ++x, weight += columns.weights.taps) {
    const double* in = between + (columns.first[x] - columns.begin) * columns.channels;
    for (std::int64_t c = 0; c < columns.channels; ++c) {
      double sum = 0.5;
      for (std::int64_t t = 0; t < columns.weights.taps; ++t) sum += weight[t] * in[t * columns.channels + c];
      *sums++ = static_cast<std::int32_t>(sum);
    }
  }
}

}  // namespace

void widen(const std::uint8_t* bytes, std::int64_t count, float* values) {
  for (std::int64_t i = 0; i < count; ++i) values[i] = bytes[i];
}

// The last vectors overlap the ones before.
void add_rows(const Rows& rows, const Weights& weights, std::int64_t count, double* between) {
  constexpr std::int64_t kStep = 2 * kLanes;
  if (count >= kStep) {
    for (std::int64_t i = 0; i + kStep <= count; i += kStep) add_rows_at(i, rows, weights, count, between);
    if (count % kStep != 0) add_rows_at(count - kStep, rows, weights, count, between);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    between[i] = 0;
    for (std::int64_t t = 0; t < weights.taps; ++t)
      between[i] += weights.of[t] * rows.values[(rows.first + t) % weights.taps * count + i];
  }
}

void add_columns(const double* between, const Columns& columns, std::int32_t* sums, std::uint8_t* out) {
  if (columns.channels == 3) {
    const auto taps = static_cast<std::size_t>(columns.weights.taps);
    kOfThreeByTaps[taps < std::size(kOfThreeByTaps) ? taps : 0](between, columns, sums);
  } else {
    add_columns_of_any(between, columns, sums);
  }
  const std::int64_t count = columns.num_pixels * columns.channels;
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<std::uint8_t>(sums[i]);
}

}  // namespace convoy::pixel_kernels
