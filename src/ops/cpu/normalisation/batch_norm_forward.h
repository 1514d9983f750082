/// Forward loops of batch normalisation, over the rows of RowLayout.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "convoy/ops/batch_norm.h"

#include "ops/cpu/normalisation/batch_norm_rows.h"
#include "ops/cpu/normalisation/relu_mask.h"

namespace convoy::ops::cpu {

namespace {

/// The normalisation of a channel: scale * (x - mean) + beta, with scale = gamma * inv_std.
struct ChannelAffine {
  float gamma, beta, mean, inv_std;
};

/// The normalisation of a column, or of a vector of columns: scale * (x - mean) + beta.
template <typename V>
struct ColumnAffine {
  V mean, scale, beta;
};

/// The ColumnAffines of all columns of a row: arrays of RowLayout::width numbers, so that loops need not know to which
/// channel a column belongs.
struct AffineRow {
  float* mean;
  float* scale;
  float* beta;

  template <typename V>
  [[gnu::always_inline]] ColumnAffine<V> column(std::int64_t i) const {
    return {read<V>(mean + i), read<V>(scale + i), read<V>(beta + i)};
  }
};

/// The AffineRow of each branch.
template <std::size_t kBranches>
using AffineRows = std::array<AffineRow, kBranches>;

/// Returns the ColumnAffine of each branch for column i, or for a vector of columns from i on.
template <typename V, std::size_t kBranches>
[[gnu::always_inline]] inline std::array<ColumnAffine<V>, kBranches> columns_of(const AffineRows<kBranches>& affines,
                                                                                std::int64_t i) {
  std::array<ColumnAffine<V>, kBranches> columns;
  for (std::size_t b = 0; b < kBranches; ++b) columns[b] = affines[b].template column<V>(i);
  return columns;
}

/// Writes the ChannelAffine of_channel(c) to all columns of channel c, for each channel c of the calling thread's part.
template <typename OfChannel>
void expand_my_channels(const RowLayout& layout, const AffineRow& to, const OfChannel& of_channel) {
  const Range channels = my_part_of(layout.channels);
  for (std::int64_t c = channels.begin; c < channels.end; ++c) {
    const ChannelAffine from = of_channel(c);
    for (std::int64_t i = c; i < layout.width; i += layout.channels) {
      to.mean[i] = from.mean;
      to.scale[i] = from.gamma * from.inv_std;
      to.beta[i] = from.beta;
    }
  }
}

/// Returns the normalised value, which is the ReLU's argument before a residual is added, for a vector or a single
/// value.
template <typename V>
[[gnu::always_inline]] inline V normalised(V x, const ColumnAffine<V>& column) {
  return (x - column.mean) * column.scale + column.beta;
}

// --- Loops that sum over rows -----------------------------------------------------------------------------------

/// kTotals arrays with a number for each column of a row: RowLayout::width numbers each.
template <std::size_t kTotals>
using ColumnTotals = std::array<double*, kTotals>;

/// Sums x - shift and its square over the calling thread's blocks of rows, for each column. A block's shift is its
/// first row, so that a large mean cancels before it is squared.
template <typename T>
void sum_my_deviations(const T* x, const RowLayout& layout, const ColumnSums<2>& sums) {
  sum_my_blocks(layout, sums, PrefetchedArrays<T>{x}, [&]<typename V>(std::int64_t first_row, std::int64_t i, V) {
    const V shift = read<V>(x + first_row * layout.width + i);
    return [x, shift](std::int64_t at) {
      const V d = read<V>(x + at) - shift;
      return Terms<V, 2>{d, d * d};
    };
  });
}

/// Computes the mean and the sum of squared deviations of each column over all rows, for the calling thread's columns,
/// and writes them to totals[0] and totals[1]. Those of blocks are merged in double, as in Chan, Golub & LeVeque 1983:
///   mean = sum_b n_b mean_b / n      m2 = sum_b m2_b + n_b (mean_b - mean)^2
template <typename T>
void merge_my_tiles(const T* x, const RowLayout& layout, const ColumnSums<2>& sums, const ColumnTotals<2>& totals) {
  const std::int64_t width = layout.width;
  const Range tiles = my_part_of(layout.tiles());
  for (std::int64_t t = tiles.begin; t < tiles.end; ++t) {
    const std::int64_t column = t * kTile;
    double mean[kTile] = {}, m2[kTile] = {};
    for (std::int64_t b = 0; b < layout.blocks; ++b) {
      const Range rows = layout.block(b);
      const T* shift = x + rows.begin * width + column;
      const float* sum = sums[0] + b * width + column;
      const auto n = static_cast<double>(rows.end - rows.begin);
      for (std::int64_t i = 0; i < kTile; ++i) mean[i] += n * double{to_float(shift[i])} + double{sum[i]};
    }
    for (double& value : mean) value /= std::max(1.0, static_cast<double>(layout.rows));
    for (std::int64_t b = 0; b < layout.blocks; ++b) {
      const Range rows = layout.block(b);
      const T* shift = x + rows.begin * width + column;
      const float *sum = sums[0] + b * width + column, *square_sum = sums[1] + b * width + column;
      const auto n = static_cast<double>(rows.end - rows.begin), inverse_n = 1.0 / n;
      for (std::int64_t i = 0; i < kTile; ++i) {
        const double shifted_mean = double{sum[i]} * inverse_n,
                     offset = double{to_float(shift[i])} + shifted_mean - mean[i];
        m2[i] += double{square_sum[i]} - double{sum[i]} * shifted_mean + n * offset * offset;
      }
    }
    std::copy_n(mean, kTile, totals[0] + column);
    std::copy_n(m2, kTile, totals[1] + column);
  }
}

/// The mean of some values, and m2, the sum of their squared deviations from it.
struct Moments {
  double mean = 0, m2 = 0;
};

/// Returns the moments of a channel: merges those of its columns by the formula of merge_my_tiles(), and adds its
/// values in the tail.
template <typename T>
Moments merge_columns(const T* x, const RowLayout& layout, std::int64_t channel, const ColumnTotals<2>& totals) {
  const auto rows = static_cast<double>(layout.rows);
  const T* tail = x + layout.tail_begin();
  Moments all;
  for (std::int64_t i = channel; i < layout.width; i += layout.channels) all.mean += rows * totals[0][i];
  for (std::int64_t i = channel; i < layout.tail_count(); i += layout.channels) all.mean += double{to_float(tail[i])};
  all.mean /= static_cast<double>(layout.pixels);
  for (std::int64_t i = channel; i < layout.width; i += layout.channels) {
    const double offset = totals[0][i] - all.mean;
    all.m2 += totals[1][i] + rows * offset * offset;
  }
  for (std::int64_t i = channel; i < layout.tail_count(); i += layout.channels) {
    const double offset = double{to_float(tail[i])} - all.mean;
    all.m2 += offset * offset;
  }
  if (all.m2 < 0) all.m2 = 0;  // rounding may leave a constant channel a hair below; NaN stays NaN
  return all;
}

inline float inverse_stddev(double variance, float epsilon) {
  return static_cast<float>(1.0 / std::sqrt(variance + static_cast<double>(epsilon)));
}

/// Computes the statistics of a branch, and writes the normalisation that follows from them to `to`. Called by all
/// threads of an OpenMP team. The results are complete after the team's next barrier.
template <typename T>
void compute_statistics(const BatchNormForward::Branch& branch, float epsilon, const RowLayout& layout,
                        const ColumnSums<2>& sums, const ColumnTotals<2>& totals, const AffineRow& to) {
  const T* x = values_at<T>(branch.x);
  sum_my_deviations(x, layout, sums);
#pragma omp barrier
  merge_my_tiles(x, layout, sums, totals);
#pragma omp barrier
  expand_my_channels(layout, to, [&](std::int64_t c) -> ChannelAffine {
    const Moments moments = merge_columns(x, layout, c, totals);
    const auto count = static_cast<double>(layout.pixels);
    branch.mean[c] = static_cast<float>(moments.mean);
    branch.inv_std[c] = inverse_stddev(moments.m2 / count, epsilon);
    branch.var_unbiased[c] = static_cast<float>(moments.m2 / std::max(1.0, count - 1.0));
    return {branch.gamma[c], branch.beta[c], branch.mean[c], branch.inv_std[c]};
  });
}

// --- Loops that write y -----------------------------------------------------------------------------------------

/// Computes the calling thread's part of y and, if kMask, of the ReLU's mask for backward.
template <typename T, std::size_t kBranches, bool kRelu, bool kResidual, bool kMask>
void normalise_my_rows(const BatchNormForward& args, const RowLayout& layout, const AffineRows<kBranches>& affines) {
  const T* const x = values_at<T>(args.branches[0].x);
  [[maybe_unused]] const T* const second = values_at<T>(args.branches[1].x);
  const T* const residual = values_at<T>(args.residual);
  T* const y = values_at<T>(args.y);
  std::uint8_t* const mask = args.mask;
  const PrefetchedArrays<T> arrays{x, kBranches > 1 ? second : residual, y};
  compute_my_rows(layout, arrays, [&]<typename V>(std::int64_t i, V) {
    return [=, columns = columns_of<V>(affines, i)](std::int64_t at) {
      V v = normalised(read<V>(x + at), columns[0]);
      if constexpr (kBranches > 1) v += normalised(read<V>(second + at), columns[1]);
      if constexpr (kResidual) v += read<V>(residual + at);
      if constexpr (kMask) write_mask<T>(mask, at, v);
      write(y + at, kRelu ? relu(v) : v);
    };
  });
}

}  // namespace

}  // namespace convoy::ops::cpu
