/// Backward loops of batch normalisation, over the rows of RowLayout. Included only by batch_norm.cpp.
#pragma once

#include <algorithm>

#include "ops/cpu/batch_norm_forward.h"
#include "ops/cpu/batch_norm_rows.h"

namespace convoy::ops::cpu {

namespace {

/// Where the ReLU's mask comes from. Without a residual x tells it, bit for bit, else forward's mask.
enum class Mask { kNone, kFromX, kFromForward };

/// v where what is stored of `condition` is positive.
template <typename T>
[[gnu::always_inline]] inline Vec where_positive(Vec condition, Vec v) {
  return condition > kStoredAsZero<T> ? v : Vec{};
}
template <typename T>
[[gnu::always_inline]] inline float where_positive(float condition, float v) {
  return condition > kStoredAsZero<T> ? v : 0.0f;
}

/// The value of dy there, and of its addend, as their sum would be stored.
template <typename V, typename T>
[[gnu::always_inline]] inline V sum_of_parts(const T* dy, const T* addend, std::int64_t at) {
  const V first = read<V>(dy + at);
  return addend == nullptr ? first : as_stored<T>(V(first + read<V>(addend + at)));
}

// --- The pass of sums -------------------------------------------------------------------------------------------

/// Of g and g * (x - mean), for the calling thread's blocks; g = dy where the ReLU let through, written to `to_g`
/// unless that is null. The tail is a block whose columns hold one value each, or none.
template <typename T, Mask kMask>
void sum_my_gradients(const BatchNormGradInputs& in, void* to_g, const RowLayout& layout, const AffineRow& affine,
                      const ColumnSums& sums) {
  const auto terms = [&]<typename V>(std::int64_t /*first_row*/, std::int64_t i, V) {
    return [in, to_g, column = affine.column<V>(i)](std::int64_t at) {
      const V x = read<V>(values_at<T>(in.x) + at);
      V g = sum_of_parts<V>(values_at<T>(in.dy), values_at<T>(in.dy_addend), at);
      if constexpr (kMask == Mask::kFromX) g = where_positive<T>(normalised(x, column), g);
      if constexpr (kMask == Mask::kFromForward) g = kept_by_mask(in.mask, at, g);
      if (to_g != nullptr) write(values_at<T>(to_g) + at, g);
      return Terms<V>{g, g * (x - column.mean)};
    };
  };
  if (omp_get_thread_num() == 0) {
    float *first = sums.first + layout.blocks * layout.width, *second = sums.second + layout.blocks * layout.width;
    std::fill_n(first, layout.width, 0.0f);
    std::fill_n(second, layout.width, 0.0f);
    for (std::int64_t i = 0; i < layout.tail_count(); ++i) {
      const Terms<float> only = terms(0, i, 0.0f)(layout.tail_begin() + i);
      first[i] = only.first;
      second[i] = only.second;
    }
  }
  sum_my_blocks(layout, sums, terms);
}

/// Both sums over all blocks, in double and in order, for the calling thread's columns.
void merge_my_gradients(const RowLayout& layout, const ColumnSums& sums, const ColumnTotals& totals) {
  const Range tiles = my_part_of(layout.tiles());
  for (std::int64_t t = tiles.begin; t < tiles.end; ++t) {
    const std::int64_t column = t * kTile;
    double first[kTile] = {}, second[kTile] = {};
    for (std::int64_t b = 0; b <= layout.blocks; ++b) {
      const float *s = sums.first + b * layout.width + column, *q = sums.second + b * layout.width + column;
      for (std::int64_t i = 0; i < kTile; ++i) first[i] += double{s[i]};
      for (std::int64_t i = 0; i < kTile; ++i) second[i] += double{q[i]};
    }
    std::copy_n(first, kTile, totals.first + column);
    std::copy_n(second, kTile, totals.second + column);
  }
}

// --- The pass of results ----------------------------------------------------------------------------------------

/// mean_g = mean(g), slope = inv_std * mean(g * xhat), per column.
struct SlopeRow {
  float* mean_g;
  float* slope;
};

/// The calling thread's part of dx = gamma * inv_std * (g - mean(g) - xhat * mean(g * xhat)). g is `dy`, with kMask
/// where x says that the ReLU let through.
template <typename T, bool kMask>
void input_gradients_of_my_rows(const T* dy, const T* x, T* dx, const RowLayout& layout, const AffineRow& affine,
                                const SlopeRow& slopes) {
  compute_my_rows(layout, [&]<typename V>(std::int64_t i, V) {
    const V mean_g = read<V>(slopes.mean_g + i), slope = read<V>(slopes.slope + i);
    return [dy, x, dx, column = affine.column<V>(i), mean_g, slope](std::int64_t at) {
      const V value = read<V>(x + at);
      V g = read<V>(dy + at);
      if constexpr (kMask) g = where_positive<T>(normalised(value, column), g);
      write(dx + at, V((g - mean_g - (value - column.mean) * slope) * column.scale));
    };
  });
}

// --- Backward of inference --------------------------------------------------------------------------------------

/// The calling thread's part of dresidual = g, dx = g * scale, g = dy where the ReLU let through.
template <typename T, bool kRelu, bool kResidual>
void inference_gradients_of_my_rows(const BatchNormInferenceGrad& args, const RowLayout& layout, const float* scales) {
  compute_my_rows(layout, [&]<typename V>(std::int64_t i, V) {
    return [args, scale = read<V>(scales + i)](std::int64_t at) {
      V g = sum_of_parts<V>(values_at<T>(args.dy), values_at<T>(args.dy_addend), at);
      if constexpr (kRelu) g = where_positive<T>(read<V>(values_at<T>(args.y) + at), g);
      if constexpr (kResidual) write(values_at<T>(args.dresidual) + at, g);
      write(values_at<T>(args.dx) + at, V(g * scale));
    };
  });
}

}  // namespace

}  // namespace convoy::ops::cpu
