/// Backward loops of batch normalisation, over the rows of RowLayout.
#pragma once

#include <algorithm>

#include "ops/cpu/batch_norm_forward.h"
#include "ops/cpu/batch_norm_rows.h"

namespace convoy::ops::cpu {

namespace {

/// How backward finds the values that the ReLU let through: kNone, there is no ReLU; kFromX, computes them again from
/// x, which is exact if there is no residual; kFromForward, reads the mask that forward has stored.
enum class Mask { kNone, kFromX, kFromForward };

/// Returns v if `condition` is positive when stored as T, else 0.
template <typename T>
[[gnu::always_inline]] inline Vec where_positive(Vec condition, Vec v) {
  return condition > kStoredAsZero<T> ? v : Vec{};
}
template <typename T>
[[gnu::always_inline]] inline float where_positive(float condition, float v) {
  return condition > kStoredAsZero<T> ? v : 0.0f;
}

/// Reads dy from one array.
template <typename T>
struct StoredGradients {
  static constexpr bool kAreSummed = false;

  const T* dy;

  template <typename V>
  [[gnu::always_inline]] V at(std::int64_t i) const {
    return read<V>(dy + i);
  }
};

/// Reads dy + addend from two arrays. The sum is rounded as if it had been stored as T.
template <typename T>
struct SummedGradients {
  static constexpr bool kAreSummed = true;

  const T *dy, *addend;

  template <typename V>
  [[gnu::always_inline]] V at(std::int64_t i) const {
    return as_stored<T>(V(read<V>(dy + i) + read<V>(addend + i)));
  }
};

/// Calls body with StoredGradients if addend is null, else with SummedGradients.
template <typename T, typename Body>
void with_gradients(const void* dy, const void* addend, const Body& body) {
  if (addend != nullptr) return body(SummedGradients<T>{values_at<T>(dy), values_at<T>(addend)});
  body(StoredGradients<T>{values_at<T>(dy)});
}

// --- Loops that sum over rows -----------------------------------------------------------------------------------

/// Sums g and g * (x - mean) over the calling thread's blocks of rows and, on thread 0, the tail. g is dy if the ReLU
/// let the value through, else 0. If kWritesG, g is written to `to_g`.
template <typename T, Mask kMask, bool kWritesG, typename Gradients>
void sum_my_gradients(const Gradients& dy, const BatchNormGradInputs& in, T* to_g, const RowLayout& layout,
                      const AffineRow& affine, const ColumnSums<2>& sums) {
  const T* const x = values_at<T>(in.x);
  const std::uint8_t* const mask = in.mask;
  const auto terms = [&]<typename V>(std::int64_t /*first_row*/, std::int64_t i, V) {
    return [=, column = affine.column<V>(i)](std::int64_t at) {
      const V value = read<V>(x + at);
      V g = dy.template at<V>(at);
      if constexpr (kMask == Mask::kFromX) g = where_positive<T>(normalised(value, column), g);
      if constexpr (kMask == Mask::kFromForward) g = kept_by_mask(mask, at, g);
      if constexpr (kWritesG) write_exact(to_g + at, g);
      return Terms<V, 2>{g, g * (value - column.mean)};
    };
  };
  const PrefetchedArrays<T> arrays{x, values_at<T>(in.dy), values_at<T>(in.dy_addend), to_g};
  sum_my_blocks_and_tail(layout, sums, arrays, terms);
}

/// Adds up the sums of all blocks and the tail, in double and in their order, for the calling thread's columns.
template <std::size_t kSums>
void merge_my_gradients(const RowLayout& layout, const ColumnSums<kSums>& sums, const ColumnTotals<kSums>& totals) {
  const Range tiles = my_part_of(layout.tiles());
  for (std::int64_t t = tiles.begin; t < tiles.end; ++t) {
    for (std::size_t s = 0; s < kSums; ++s) {
      const float* const sum = sums[s] + t * kTile;
      double total[kTile] = {};
      for (std::int64_t b = 0; b <= layout.blocks; ++b)
        for (std::int64_t i = 0; i < kTile; ++i) total[i] += double{sum[b * layout.width + i]};
      std::copy_n(total, kTile, totals[s] + t * kTile);
    }
  }
}

/// Returns the sum of `totals` over the columns that belong to the channel.
inline double sum_of_columns(const RowLayout& layout, std::int64_t channel, const double* totals) {
  double sum = 0;
  for (std::int64_t i = channel; i < layout.width; i += layout.channels) sum += totals[i];
  return sum;
}

/// Returns dbeta = sum g, and writes mean_g = mean(g) to the channel's columns.
inline float finish_dbeta(const RowLayout& layout, std::int64_t channel, const double* g_totals, float* mean_g) {
  const double dbeta = sum_of_columns(layout, channel, g_totals), count = static_cast<double>(layout.pixels);
  for (std::int64_t i = channel; i < layout.width; i += layout.channels) mean_g[i] = static_cast<float>(dbeta / count);
  return static_cast<float>(dbeta);
}

/// Returns dgamma = sum g * xhat, and writes slope = inv_std * mean(g * xhat) to the channel's columns.
inline float finish_dgamma(const RowLayout& layout, std::int64_t channel, const double* product_totals, double inv_std,
                           float* slope) {
  const double dgamma = sum_of_columns(layout, channel, product_totals) * inv_std,
               count = static_cast<double>(layout.pixels);
  for (std::int64_t i = channel; i < layout.width; i += layout.channels)
    slope[i] = static_cast<float>(inv_std * dgamma / count);
  return static_cast<float>(dgamma);
}

// --- Loops that write dx ----------------------------------------------------------------------------------------

/// Two numbers for dx of a column, or of a vector of columns: mean_g = mean(g) and slope = inv_std * mean(g * xhat),
/// with xhat = (x - mean) * inv_std.
template <typename V>
struct ColumnSlopes {
  V mean_g, slope;
};

/// The ColumnSlopes of all columns of a row: arrays of RowLayout::width numbers.
struct SlopeRow {
  float* mean_g;
  float* slope;

  template <typename V>
  [[gnu::always_inline]] ColumnSlopes<V> column(std::int64_t i) const {
    return {read<V>(mean_g + i), read<V>(slope + i)};
  }
};

/// Returns dx = gamma * inv_std * (g - mean(g) - xhat * mean(g * xhat)), with xhat = (x - mean) * inv_std.
template <typename V>
[[gnu::always_inline]] inline V input_gradient(V g, V x, const ColumnAffine<V>& column, const ColumnSlopes<V>& slopes) {
  return (g - slopes.mean_g - (x - column.mean) * slopes.slope) * column.scale;
}

/// Computes the calling thread's part of dx. g is `dy`. If kMask, g is 0 where the ReLU did not let the value through,
/// which is computed from x.
template <typename T, bool kMask>
void input_gradients_of_my_rows(const T* dy, const T* x, T* dx, const RowLayout& layout, const AffineRow& affine,
                                const SlopeRow& slopes) {
  compute_my_rows(layout, PrefetchedArrays<T>{x, dy, dx}, [&]<typename V>(std::int64_t i, V) {
    return [dy, x, dx, column = affine.column<V>(i), slope = slopes.column<V>(i)](std::int64_t at) {
      const V value = read<V>(x + at);
      V g = read<V>(dy + at);
      if constexpr (kMask) g = where_positive<T>(normalised(value, column), g);
      write(dx + at, input_gradient(g, value, column, slope));
    };
  });
}

// --- Backward of inference --------------------------------------------------------------------------------------

/// Computes the calling thread's part of dresidual = g and dx = g * scale. g is dy if the ReLU let the value through,
/// else 0.
template <typename T, bool kRelu, bool kResidual, typename Gradients>
void inference_gradients_of_my_rows(const Gradients& dy, const BatchNormInferenceGrad& args, const RowLayout& layout,
                                    const float* scales) {
  const PrefetchedArrays<T> arrays{values_at<T>(args.dy), values_at<T>(args.dy_addend),
                                   kRelu ? values_at<T>(args.y) : nullptr,
                                   kResidual ? values_at<T>(args.dresidual) : nullptr, values_at<T>(args.dx)};
  compute_my_rows(layout, arrays, [&]<typename V>(std::int64_t i, V) {
    return [dy, args, scale = read<V>(scales + i)](std::int64_t at) {
      V g = dy.template at<V>(at);
      if constexpr (kRelu) g = where_positive<T>(read<V>(values_at<T>(args.y) + at), g);
      if constexpr (kResidual) write_exact(values_at<T>(args.dresidual) + at, g);
      write(values_at<T>(args.dx) + at, V(g * scale));
    };
  });
}

}  // namespace

}  // namespace convoy::ops::cpu
