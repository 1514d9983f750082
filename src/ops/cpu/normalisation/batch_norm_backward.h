/// Backward loops of batch normalisation, over the rows of RowLayout.
#pragma once

#include <algorithm>
#include <array>

#include "ops/cpu/normalisation/batch_norm_forward.h"
#include "ops/cpu/normalisation/batch_norm_rows.h"

namespace convoy::ops::cpu {

namespace {

/// How backward finds the values that the ReLU let through: kNone, there is no ReLU, or the gradient is masked already;
/// kFromX, computes them again from x, which is exact if nothing is added before the ReLU; kFromForward, reads the mask
/// that forward has stored.
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
  const T* dy;

  template <typename V>
  [[gnu::always_inline]] V at(std::int64_t i) const {
    return read<V>(dy + i);
  }
};

/// Reads dy + addend from two arrays. The sum is rounded as if it had been stored as T.
template <typename T>
struct SummedGradients {
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

/// Returns g: `dy` if the ReLU let the value at index `at` through, else 0. `x` is the value of the first branch.
template <typename T, Mask kMask, typename V>
[[gnu::always_inline]] inline V masked(V dy, V x, const ColumnAffine<V>& column, const std::uint8_t* mask,
                                       std::int64_t at) {
  if constexpr (kMask == Mask::kFromX) return where_positive<T>(normalised(x, column), dy);
  if constexpr (kMask == Mask::kFromForward) return kept_by_mask(mask, at, dy);
  return dy;
}

/// Reads the value at index `at` of each branch's x.
template <typename T, typename V, std::size_t kBranches>
[[gnu::always_inline]] inline std::array<V, kBranches> values_of_branches(const BatchNormBackward& args,
                                                                          std::int64_t at) {
  std::array<V, kBranches> values;
  for (std::size_t b = 0; b < kBranches; ++b) values[b] = read<V>(values_at<T>(args.branches[b].x) + at);
  return values;
}

/// Sums g and, for each branch, g * (x - mean) over the calling thread's blocks of rows and, on thread 0, the tail. If
/// kWritesG, g is written to `to_g`.
template <typename T, std::size_t kBranches, Mask kMask, bool kWritesG, typename Gradients>
void sum_my_gradients(const Gradients& dy, const BatchNormBackward& args, T* to_g, const RowLayout& layout,
                      const AffineRows<kBranches>& affines, const ColumnSums<1 + kBranches>& sums) {
  const auto terms = [&]<typename V>(std::int64_t /*first_row*/, std::int64_t i, V) {
    return [&, to_g, columns = columns_of<V>(affines, i)](std::int64_t at) {
      const auto values = values_of_branches<T, V, kBranches>(args, at);
      const V g = masked<T, kMask>(dy.template at<V>(at), values[0], columns[0], args.mask, at);
      if constexpr (kWritesG) write_exact(to_g + at, g);
      Terms<V, 1 + kBranches> added = {g};
      for (std::size_t b = 0; b < kBranches; ++b) added[1 + b] = g * (values[b] - columns[b].mean);
      return added;
    };
  };
  const PrefetchedArrays<T> arrays{values_at<T>(args.dy), values_at<T>(args.dy_addend),
                                   values_at<T>(args.branches[0].x),
                                   kBranches > 1 ? values_at<T>(args.branches[1].x) : nullptr, to_g};
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

/// Two numbers for dx of all columns of a row, as arrays of RowLayout::width numbers: mean_g = mean(g) and, for each
/// branch, slope = inv_std * mean(g * xhat), with xhat = (x - mean) * inv_std.
template <std::size_t kBranches>
struct SlopeRows {
  float* mean_g;
  std::array<float*, kBranches> slopes;
};

/// Returns dx = gamma * inv_std * (g - mean(g) - xhat * mean(g * xhat)), with xhat = (x - mean) * inv_std and
/// centred_g = g - mean(g).
template <typename V>
[[gnu::always_inline]] inline V input_gradient(V centred_g, V x, const ColumnAffine<V>& column, V slope) {
  return (centred_g - (x - column.mean) * slope) * column.scale;
}

/// Computes the calling thread's part of dx in each branch. `dy` is g, or the gradient before the ReLU's mask kMask.
template <typename T, std::size_t kBranches, Mask kMask>
void input_gradients_of_my_rows(const T* dy, const BatchNormBackward& args, const RowLayout& layout,
                                const AffineRows<kBranches>& affines, const SlopeRows<kBranches>& row) {
  constexpr std::size_t kLast = kBranches - 1;
  const PrefetchedArrays<T> arrays{dy, values_at<T>(args.branches[0].x), values_at<T>(args.branches[0].dx),
                                   kLast > 0 ? values_at<T>(args.branches[kLast].x) : nullptr,
                                   kLast > 0 ? values_at<T>(args.branches[kLast].dx) : nullptr};
  compute_my_rows(layout, arrays, [&]<typename V>(std::int64_t i, V) {
    std::array<V, kBranches> slopes;
    for (std::size_t b = 0; b < kBranches; ++b) slopes[b] = read<V>(row.slopes[b] + i);
    return [&args, dy, slopes, columns = columns_of<V>(affines, i), mean_g = read<V>(row.mean_g + i)](std::int64_t at) {
      const auto values = values_of_branches<T, V, kBranches>(args, at);
      const V g = masked<T, kMask>(read<V>(dy + at), values[0], columns[0], args.mask, at), centred_g = g - mean_g;
      for (std::size_t b = 0; b < kBranches; ++b)
        write(values_at<T>(args.branches[b].dx) + at, input_gradient(centred_g, values[b], columns[b], slopes[b]));
    };
  });
}

// --- Backward of inference --------------------------------------------------------------------------------------

/// Computes the calling thread's part of dresidual = g and, in each branch, of dx = g * scale. g is dy if the ReLU let
/// the value through, else 0.
template <typename T, std::size_t kBranches, bool kRelu, bool kResidual, typename Gradients>
void inference_gradients_of_my_rows(const Gradients& dy, const BatchNormBackward& args, const RowLayout& layout,
                                    const AffineRows<kBranches>& affines) {
  const T* const y = values_at<T>(args.y);
  T* const dresidual = values_at<T>(args.dresidual);
  const PrefetchedArrays<T> arrays{
      values_at<T>(args.dy), values_at<T>(args.dy_addend), kRelu ? y : nullptr, values_at<T>(args.branches[0].dx),
      kBranches > 1 ? values_at<T>(args.branches[1].dx) : (kResidual ? dresidual : nullptr)};
  compute_my_rows(layout, arrays, [&]<typename V>(std::int64_t i, V) {
    return [=, &args, columns = columns_of<V>(affines, i)](std::int64_t at) {
      V g = dy.template at<V>(at);
      if constexpr (kRelu) g = where_positive<T>(read<V>(y + at), g);
      if constexpr (kResidual) write_exact(dresidual + at, g);
      for (std::size_t b = 0; b < kBranches; ++b)
        write(values_at<T>(args.branches[b].dx) + at, V(g * columns[b].scale));
    };
  });
}

}  // namespace

}  // namespace convoy::ops::cpu
