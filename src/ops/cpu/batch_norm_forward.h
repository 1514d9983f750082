/// Forward loops of batch normalisation, over the rows of RowLayout. Included by batch_norm.cpp alone.
#pragma once

#include <algorithm>

#include "ops/cpu/batch_norm_rows.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/simd.h"
#include "ops/cpu/storage.h"

namespace convoy::ops::cpu {

namespace {

/// What a channel's values go through: scale * (x - mean) + beta, scale = gamma * inv_std.
struct ChannelAffine {
  float gamma, beta, mean, inv_std;
};

/// The same per column, as wide as a row, so that loops need not know the channel.
struct AffineRow {
  float* mean;
  float* scale;
  float* beta;
};

void expand(std::int64_t channel, const ChannelAffine& from, const RowLayout& layout, const AffineRow& to) {
  for (std::int64_t i = channel; i < layout.width; i += layout.channels) {
    to.mean[i] = from.mean;
    to.scale[i] = from.gamma * from.inv_std;
    to.beta[i] = from.beta;
  }
}

constexpr int kRowsAtOnce = 8;  // a column's parameters and sums are loaded once for so many rows

/// The ReLU's argument, less the residual; for a vector or a single value.
template <typename V>
[[gnu::always_inline]] inline V normalised(V x, V mean, V scale, V beta) {
  return (x - mean) * scale + beta;
}

// --- The pass of sums -------------------------------------------------------------------------------------------

/// Two sums per block and column, (blocks + 1, width); the last block is the tail's.
struct ColumnSums {
  float* first;
  float* second;
};

/// Two numbers per column, (width).
struct ColumnTotals {
  double* first;
  double* second;
};

/// Adds x - shift and its square over kRows rows.
template <int kRows, typename T>
[[gnu::always_inline]] inline void add_shifted_rows(const T* x, const T* shift, std::int64_t width,
                                                    float* __restrict sum, float* __restrict square_sum) {
  for (std::int64_t i = 0; i < width; i += kLanes) {
    const Vec base = load(shift + i);
    Vec d[kRows], squares[kRows];
    for (int r = 0; r < kRows; ++r) {
      d[r] = load(x + r * width + i) - base;
      squares[r] = d[r] * d[r];
    }
    store(sum + i, load(sum + i) + pairwise_sum<kRows>(d));
    store(square_sum + i, load(square_sum + i) + pairwise_sum<kRows>(squares));
  }
}

/// The calling thread's blocks. A block's shift is its first row, so that a large mean cancels before it is squared.
template <typename T>
void sum_my_blocks(const T* x, const RowLayout& layout, const ColumnSums& sums) {
  const std::int64_t width = layout.width;
  const Range blocks = my_part_of(layout.blocks);
  for (std::int64_t b = blocks.begin; b < blocks.end; ++b) {
    float *sum = sums.first + b * width, *square_sum = sums.second + b * width;
    std::fill_n(sum, width, 0.0f);
    std::fill_n(square_sum, width, 0.0f);
    const Range rows = layout.block(b);
    const T* shift = x + rows.begin * width;
    std::int64_t r = rows.begin;
    for (; r + kRowsAtOnce <= rows.end; r += kRowsAtOnce) {
      add_shifted_rows<kRowsAtOnce>(x + r * width, shift, width, sum, square_sum);
    }
    for (; r < rows.end; ++r) add_shifted_rows<1>(x + r * width, shift, width, sum, square_sum);
  }
}

/// Mean (first) and sum of squared deviations (second) of each column over all rows, for the calling thread's columns.
/// The blocks' own are merged as in Chan, Golub & LeVeque 1983, in double:
///   mean = sum_b n_b mean_b / n      m2 = sum_b m2_b + n_b (mean_b - mean)^2
template <typename T>
void merge_my_tiles(const T* x, const RowLayout& layout, const ColumnSums& sums, const ColumnTotals& totals) {
  const std::int64_t width = layout.width;
  const Range tiles = my_part_of(layout.tiles());
  for (std::int64_t t = tiles.begin; t < tiles.end; ++t) {
    const std::int64_t column = t * kTile;
    double mean[kTile] = {}, m2[kTile] = {};
    for (std::int64_t b = 0; b < layout.blocks; ++b) {
      const Range rows = layout.block(b);
      const T* shift = x + rows.begin * width + column;
      const float* sum = sums.first + b * width + column;
      const auto n = static_cast<double>(rows.end - rows.begin);
      for (std::int64_t i = 0; i < kTile; ++i) mean[i] += n * double{to_float(shift[i])} + double{sum[i]};
    }
    for (double& value : mean) value /= std::max(1.0, static_cast<double>(layout.rows));
    for (std::int64_t b = 0; b < layout.blocks; ++b) {
      const Range rows = layout.block(b);
      const T* shift = x + rows.begin * width + column;
      const float *sum = sums.first + b * width + column, *square_sum = sums.second + b * width + column;
      const auto n = static_cast<double>(rows.end - rows.begin), inverse_n = 1.0 / n;
      for (std::int64_t i = 0; i < kTile; ++i) {
        const double shifted_mean = double{sum[i]} * inverse_n,
                     offset = double{to_float(shift[i])} + shifted_mean - mean[i];
        m2[i] += double{square_sum[i]} - double{sum[i]} * shifted_mean + n * offset * offset;
      }
    }
    std::copy_n(mean, kTile, totals.first + column);
    std::copy_n(m2, kTile, totals.second + column);
  }
}

/// m2: the sum of squared deviations.
struct Moments {
  double mean = 0, m2 = 0;
};

/// Of a channel: its columns, merged by the same formula, and its values in the tail.
template <typename T>
Moments merge_columns(const T* x, const RowLayout& layout, std::int64_t channel, const ColumnTotals& totals) {
  const auto rows = static_cast<double>(layout.rows);
  const T* tail = x + layout.tail_begin();
  Moments all;
  for (std::int64_t i = channel; i < layout.width; i += layout.channels) all.mean += rows * totals.first[i];
  for (std::int64_t i = channel; i < layout.tail_count(); i += layout.channels) all.mean += double{to_float(tail[i])};
  all.mean /= static_cast<double>(layout.pixels);
  for (std::int64_t i = channel; i < layout.width; i += layout.channels) {
    const double offset = totals.first[i] - all.mean;
    all.m2 += totals.second[i] + rows * offset * offset;
  }
  for (std::int64_t i = channel; i < layout.tail_count(); i += layout.channels) {
    const double offset = double{to_float(tail[i])} - all.mean;
    all.m2 += offset * offset;
  }
  if (all.m2 < 0) all.m2 = 0;  // rounding may leave a constant channel a hair below; NaN stays NaN
  return all;
}

// --- The pass of results ----------------------------------------------------------------------------------------

template <typename T>
struct NormaliseArgs {
  const T* x;
  const T* residual;
  T* y;
};

template <bool kRelu, bool kResidual, typename V>
[[gnu::always_inline]] inline V result(V x, V residual, V mean, V scale, V beta) {
  V v = normalised(x, mean, scale, beta);
  if constexpr (kResidual) v += residual;
  return kRelu ? relu(v) : v;
}

template <bool kRelu, bool kResidual, int kRows, typename T>
[[gnu::always_inline]] inline void normalise_rows(const NormaliseArgs<T>& args, std::int64_t begin, std::int64_t width,
                                                  const AffineRow& affine) {
  for (std::int64_t i = 0; i < width; i += kLanes) {
    const Vec mean = load(affine.mean + i), scale = load(affine.scale + i), beta = load(affine.beta + i);
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t at = begin + r * width + i;
      const Vec residual = kResidual ? load(args.residual + at) : Vec{};
      store(args.y + at, result<kRelu, kResidual>(load(args.x + at), residual, mean, scale, beta));
    }
  }
}

template <bool kRelu, bool kResidual, typename T>
void normalise_tail(const NormaliseArgs<T>& args, const RowLayout& layout, const AffineRow& affine) {
  for (std::int64_t i = 0; i < layout.tail_count(); ++i) {
    const std::int64_t at = layout.tail_begin() + i;
    const float x = to_float(args.x[at]), r = kResidual ? to_float(args.residual[at]) : 0.0f;
    args.y[at] = rounded_to<T>(result<kRelu, kResidual>(x, r, affine.mean[i], affine.scale[i], affine.beta[i]));
  }
}

/// The calling thread's part of y, from the end to the beginning: what the pass of sums read last may still be cached.
template <bool kRelu, bool kResidual, typename T>
void normalise_my_rows(const NormaliseArgs<T>& args, const RowLayout& layout, const AffineRow& affine) {
  if (omp_get_thread_num() == 0) normalise_tail<kRelu, kResidual>(args, layout, affine);
  const Range blocks = my_part_of(layout.blocks);
  for (std::int64_t b = blocks.end; b-- > blocks.begin;) {
    const Range rows = layout.block(b);
    std::int64_t r = rows.begin;
    for (; r + kRowsAtOnce <= rows.end; r += kRowsAtOnce) {
      normalise_rows<kRelu, kResidual, kRowsAtOnce>(args, r * layout.width, layout.width, affine);
    }
    for (; r < rows.end; ++r) normalise_rows<kRelu, kResidual, 1>(args, r * layout.width, layout.width, affine);
  }
}

}  // namespace

}  // namespace convoy::ops::cpu
