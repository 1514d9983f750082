/// Backward loops of batch normalisation, over the rows of RowLayout. Included by batch_norm.cpp alone.
#pragma once

#include <algorithm>

#include "ops/cpu/batch_norm_forward.h"
#include "ops/cpu/batch_norm_rows.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/simd.h"
#include "ops/cpu/storage.h"

namespace convoy::ops::cpu {

namespace {

/// Where the ReLU's mask comes from. Without a residual x tells it, bit for bit, and y need not be read.
enum class Mask { kNone, kFromX, kFromY };

/// v where what is stored of `condition` is positive.
template <typename T>
[[gnu::always_inline]] inline Vec where_positive(Vec condition, Vec v) {
  return condition > kStoredAsZero<T> ? v : Vec{};
}
template <typename T>
[[gnu::always_inline]] inline float where_positive(float condition, float v) {
  return condition > kStoredAsZero<T> ? v : 0.0f;
}

/// g = dy where the ReLU let through.
template <Mask kMask, typename T, typename V>
[[gnu::always_inline]] inline V masked(V dy, V x, V y, V mean, V scale, V beta) {
  if constexpr (kMask == Mask::kFromX) return where_positive<T>(normalised(x, mean, scale, beta), dy);
  if constexpr (kMask == Mask::kFromY) return where_positive<T>(y, dy);
  return dy;
}

// --- The pass of sums -------------------------------------------------------------------------------------------

template <typename T>
struct GradientArgs {
  const T* dy;
  const T* x;
  const T* y;
  T* dresidual;  ///< with a residual g is kept here, for the second pass too; may be dy
};

/// Adds g and g * (x - mean) over kRows rows; writes dresidual = g.
template <Mask kMask, bool kResidual, int kRows, typename T>
[[gnu::always_inline]] inline void add_gradient_rows(const GradientArgs<T>& args, std::int64_t begin,
                                                     std::int64_t width, const AffineRow& affine, float* sum,
                                                     float* product_sum) {
  for (std::int64_t i = 0; i < width; i += kLanes) {
    const Vec mean = load(affine.mean + i), scale = load(affine.scale + i), beta = load(affine.beta + i);
    Vec g[kRows], products[kRows];
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t at = begin + r * width + i;
      const Vec x = load(args.x + at), y = kMask == Mask::kFromY ? load(args.y + at) : Vec{};
      g[r] = masked<kMask, T>(load(args.dy + at), x, y, mean, scale, beta);
      if constexpr (kResidual) store(args.dresidual + at, g[r]);
      products[r] = g[r] * (x - mean);
    }
    store(sum + i, load(sum + i) + pairwise_sum<kRows>(g));
    store(product_sum + i, load(product_sum + i) + pairwise_sum<kRows>(products));
  }
}

/// The tail is a block whose columns hold one value each, or none.
template <Mask kMask, bool kResidual, typename T>
void sum_gradients_of_tail(const GradientArgs<T>& args, const RowLayout& layout, const AffineRow& affine, float* sum,
                           float* product_sum) {
  std::fill_n(sum, layout.width, 0.0f);
  std::fill_n(product_sum, layout.width, 0.0f);
  for (std::int64_t i = 0; i < layout.tail_count(); ++i) {
    const std::int64_t at = layout.tail_begin() + i;
    const float x = to_float(args.x[at]), y = kMask == Mask::kFromY ? to_float(args.y[at]) : 0.0f;
    const float g = masked<kMask, T>(to_float(args.dy[at]), x, y, affine.mean[i], affine.scale[i], affine.beta[i]);
    if constexpr (kResidual) args.dresidual[at] = rounded_to<T>(g);
    sum[i] = g;
    product_sum[i] = g * (x - affine.mean[i]);
  }
}

/// The calling thread's blocks.
template <Mask kMask, bool kResidual, typename T>
void sum_my_gradients(const GradientArgs<T>& args, const RowLayout& layout, const AffineRow& affine,
                      const ColumnSums& sums) {
  const std::int64_t width = layout.width;
  if (omp_get_thread_num() == 0) {
    sum_gradients_of_tail<kMask, kResidual>(args, layout, affine, sums.first + layout.blocks * width,
                                            sums.second + layout.blocks * width);
  }
  const Range blocks = my_part_of(layout.blocks);
  for (std::int64_t b = blocks.begin; b < blocks.end; ++b) {
    float *sum = sums.first + b * width, *product_sum = sums.second + b * width;
    std::fill_n(sum, width, 0.0f);
    std::fill_n(product_sum, width, 0.0f);
    const Range rows = layout.block(b);
    std::int64_t r = rows.begin;
    for (; r + kRowsAtOnce <= rows.end; r += kRowsAtOnce) {
      add_gradient_rows<kMask, kResidual, kRowsAtOnce>(args, r * width, width, affine, sum, product_sum);
    }
    for (; r < rows.end; ++r) {
      add_gradient_rows<kMask, kResidual, 1>(args, r * width, width, affine, sum, product_sum);
    }
  }
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

template <typename T>
struct InputGradientArgs {
  const T* g;  ///< dy, or with a residual the masked dy
  const T* x;
  T* dx;  ///< may be g
};

/// dx = gamma * inv_std * (g - mean(g) - xhat * mean(g * xhat)).
template <typename V>
[[gnu::always_inline]] inline V input_gradient(V g, V x, V mean, V scale, V mean_g, V slope) {
  return (g - mean_g - (x - mean) * slope) * scale;
}

template <Mask kMask, int kRows, typename T>
[[gnu::always_inline]] inline void input_gradient_rows(const InputGradientArgs<T>& args, std::int64_t begin,
                                                       std::int64_t width, const AffineRow& affine,
                                                       const SlopeRow& slopes) {
  for (std::int64_t i = 0; i < width; i += kLanes) {
    const Vec mean = load(affine.mean + i), scale = load(affine.scale + i), beta = load(affine.beta + i);
    const Vec mean_g = load(slopes.mean_g + i), slope = load(slopes.slope + i);
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t at = begin + r * width + i;
      const Vec x = load(args.x + at), g = masked<kMask, T>(load(args.g + at), x, Vec{}, mean, scale, beta);
      store(args.dx + at, input_gradient(g, x, mean, scale, mean_g, slope));
    }
  }
}

template <Mask kMask, typename T>
void input_gradients_of_tail(const InputGradientArgs<T>& args, const RowLayout& layout, const AffineRow& affine,
                             const SlopeRow& slopes) {
  for (std::int64_t i = 0; i < layout.tail_count(); ++i) {
    const std::int64_t at = layout.tail_begin() + i;
    const float x = to_float(args.x[at]), mean = affine.mean[i], scale = affine.scale[i];
    const float g = masked<kMask, T>(to_float(args.g[at]), x, 0.0f, mean, scale, affine.beta[i]);
    args.dx[at] = rounded_to<T>(input_gradient(g, x, mean, scale, slopes.mean_g[i], slopes.slope[i]));
  }
}

/// The calling thread's part of dx, from the end to the beginning as in forward.
template <Mask kMask, typename T>
void input_gradients_of_my_rows(const InputGradientArgs<T>& args, const RowLayout& layout, const AffineRow& affine,
                                const SlopeRow& slopes) {
  if (omp_get_thread_num() == 0) input_gradients_of_tail<kMask>(args, layout, affine, slopes);
  const Range blocks = my_part_of(layout.blocks);
  for (std::int64_t b = blocks.end; b-- > blocks.begin;) {
    const Range rows = layout.block(b);
    std::int64_t r = rows.begin;
    for (; r + kRowsAtOnce <= rows.end; r += kRowsAtOnce) {
      input_gradient_rows<kMask, kRowsAtOnce>(args, r * layout.width, layout.width, affine, slopes);
    }
    for (; r < rows.end; ++r) input_gradient_rows<kMask, 1>(args, r * layout.width, layout.width, affine, slopes);
  }
}

// --- Backward of inference --------------------------------------------------------------------------------------

template <typename T>
struct InferenceGradientArgs {
  const T* dy;
  const T* y;
  T* dresidual;  ///< with a residual; may be dy
  T* dx;         ///< may be dy
};

/// dresidual = g, dx = g * scale, g = dy where the ReLU let through, over kRows rows.
template <bool kRelu, bool kResidual, int kRows, typename T>
[[gnu::always_inline]] inline void inference_gradient_rows(const InferenceGradientArgs<T>& args, std::int64_t begin,
                                                           std::int64_t width, const float* scale_row) {
  for (std::int64_t i = 0; i < width; i += kLanes) {
    const Vec scale = load(scale_row + i);
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t at = begin + r * width + i;
      Vec g = load(args.dy + at);
      if constexpr (kRelu) g = where_positive<T>(load(args.y + at), g);
      if constexpr (kResidual) store(args.dresidual + at, g);
      store(args.dx + at, g * scale);
    }
  }
}

template <bool kRelu, bool kResidual, typename T>
void inference_gradients_of_tail(const InferenceGradientArgs<T>& args, const RowLayout& layout,
                                 const float* scale_row) {
  for (std::int64_t i = 0; i < layout.tail_count(); ++i) {
    const std::int64_t at = layout.tail_begin() + i;
    const float dy = to_float(args.dy[at]), g = kRelu ? where_positive<T>(to_float(args.y[at]), dy) : dy;
    if constexpr (kResidual) args.dresidual[at] = rounded_to<T>(g);
    args.dx[at] = rounded_to<T>(g * scale_row[i]);
  }
}

/// The calling thread's part.
template <bool kRelu, bool kResidual, typename T>
void inference_gradients_of_my_rows(const InferenceGradientArgs<T>& args, const RowLayout& layout,
                                    const float* scale_row) {
  if (omp_get_thread_num() == 0) inference_gradients_of_tail<kRelu, kResidual>(args, layout, scale_row);
  const Range blocks = my_part_of(layout.blocks);
  for (std::int64_t b = blocks.begin; b < blocks.end; ++b) {
    const Range rows = layout.block(b);
    std::int64_t r = rows.begin;
    for (; r + kRowsAtOnce <= rows.end; r += kRowsAtOnce) {
      inference_gradient_rows<kRelu, kResidual, kRowsAtOnce>(args, r * layout.width, layout.width, scale_row);
    }
    for (; r < rows.end; ++r) {
      inference_gradient_rows<kRelu, kResidual, 1>(args, r * layout.width, layout.width, scale_row);
    }
  }
}

}  // namespace

}  // namespace convoy::ops::cpu
