/// Forward kernels of batch normalisation.
#pragma once

#include <cstdint>

#include "convoy/ops/batch_norm.h"

#include "ops/cuda/normalisation/batch_norm_rows.h"
#include "ops/cuda/normalisation/relu_mask.h"

namespace convoy::ops::cuda {

namespace {

/// Returns the normalised value, which is the ReLU's argument before a residual is added. Backward calls it, too, to
/// find the ReLU's mask with the same roundings.
__device__ inline float normalised(float centred, float scale, float beta) {
  return __fmaf_rn(centred, scale, beta);
}

/// Returns max(0, value); NaN if the value is NaN.
__device__ inline float relu(float value) {
  return value <= 0 ? 0.0f : value;
}

// --- Kernels that sum over rows ---------------------------------------------------------------------------------

constexpr int kSumRows = 4;
constexpr std::int64_t kSumBlocks = 512;  // 4 on each of 132 multiprocessors: all run at once

struct StatisticsArgs {
  BatchNormForward::Branch of;
  float epsilon;
  Rows rows;
  FloatSums<2>* partials;  ///< (gridDim.y, C): mean and sum of squared deviations of each thread block's rows
  unsigned* counters;      ///< (gridDim.x): argument of is_last_of_tile()
};

/// Writes the statistics of a channel. `difference` is the sum of squared deviations; rounding may make it slightly
/// negative.
__device__ inline void write_statistics(const StatisticsArgs& args, int channel, double mean, double difference) {
  const auto count = static_cast<double>(args.rows.count);
  const double m2 = difference < 0 ? 0 : difference;  // NaN stays NaN
  args.of.mean[channel] = static_cast<float>(mean);
  args.of.inv_std[channel] = static_cast<float>(1.0 / sqrt(m2 / count + double{args.epsilon}));
  args.of.var_unbiased[channel] = static_cast<float>(m2 / (count > 1 ? count - 1 : 1.0));
}

/// Computes the mean, inv_std and var_unbiased of each channel of a branch's x.
/// Grid: tiles x at most kSumBlocks / tiles. Block: kThreads. Shared: 20 KiB. Reads x once.
/// A thread sums x - s and (x - s)^2 in float32. s is its block's first row, so that a large mean cancels before it is
/// squared. Everything else is added in double.
/// The last block of a tile merges all blocks (Chan, Golub & LeVeque 1983), relative to block 0's mean m:
///   mean = m + sum_b n_b (mean_b - m) / n     m2 = sum_b m2_b + n_b (mean_b - m)^2 - n (mean - m)^2
template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads, 4) compute_statistics(StatisticsArgs args) {
  const Rows rows = args.rows;
  const T* const all_x = static_cast<const T*>(args.of.x);
  const Sweep<kSumRows> sweep(rows);
  float sum[2][kWidth] = {};  // of x - s, and of its square
  if (const int channel = my_channel<kWidth>(); channel < rows.channels) {
    float shift[kWidth];
    load<kWidth>(all_x + sweep.first_row() * rows.channels + channel, shift);
    for (int slab = sweep.first_slab(); slab >= 0; slab -= static_cast<int>(gridDim.y)) {
      for_rows_of_slab<kSumRows>(slab, rows.count, [&]<int kRows>(Width<kRows>, std::int64_t row) {
        const T* from = all_x + row * rows.channels + channel;
        const std::int64_t step = std::int64_t{blockDim.y} * rows.channels;
        float x[kRows][kWidth];
#pragma unroll
        for (int r = 0; r < kRows; ++r) load<kWidth>(from + r * step, x[r]);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
          for (int i = 0; i < kWidth; ++i) {
            const float d = x[r][i] - shift[i];
            sum[0][i] += d;
            sum[1][i] = __fmaf_rn(d, d, sum[1][i]);
          }
        }
      });
    }
  }

  const DoubleSums<2> sums = sum_columns(sum);
  const int tile = static_cast<int>(blockDim.x) * kWidth, channel = static_cast<int>(blockIdx.x) * tile + my_thread();
  const bool has_channel = my_thread() < tile && channel < rows.channels;
  if (has_channel) {
    const float shift = to_float(all_x[sweep.first_row() * rows.channels + channel]);
    const double shifted_mean = sums.of[0] / static_cast<double>(sweep.rows_of_block(static_cast<int>(blockIdx.y)));
    args.partials[std::int64_t{blockIdx.y} * rows.channels + channel] = {
        static_cast<float>(double{shift} + shifted_mean), static_cast<float>(sums.of[1] - sums.of[0] * shifted_mean)};
  }
  if (!is_last_of_tile(args.counters)) return;

  const int some_channel = static_cast<int>(blockIdx.x) * tile + my_thread() % tile;
  const double base = some_channel < rows.channels ? double{args.partials[some_channel].of[0]} : 0;
  const DoubleSums<2> merged = merge_blocks<kWidth>(args.partials, rows, [&](int b, const FloatSums<2>& partial) {
    const double offset = double{partial.of[0]} - base, weighted = static_cast<double>(sweep.rows_of_block(b)) * offset;
    return DoubleSums<2>{weighted, double{partial.of[1]} + weighted * offset};
  });
  if (has_channel) {
    const double offset = merged.of[0] / static_cast<double>(rows.count);
    write_statistics(args, channel, base + offset, merged.of[1] - merged.of[0] * offset);
  }
}

// --- Kernels that write y ---------------------------------------------------------------------------------------

/// The number of rows that a thread reads at once: as many as registers allow in addition to the numbers of the
/// branches.
template <int kWidth, int kBranches>
constexpr int kNormaliseRows = kBranches == 1 ? 4
                               : kWidth > 4   ? 1
                                              : 2;

/// Loads scale = gamma * inv_std or, if inv_std is null, gamma / sqrt(running_var + epsilon).
template <int kWidth>
__device__ void load_scale(int channel, const float* gamma, const float* inv_std, const float* running_var,
                           float epsilon, float (&scale)[kWidth]) {
  float factor[kWidth];
  load<kWidth>(gamma + channel, scale);
  load<kWidth>((inv_std != nullptr ? inv_std : running_var) + channel, factor);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    if (inv_std == nullptr) factor[i] = __fdiv_rn(1.0f, __fsqrt_rn(factor[i] + epsilon));
    scale[i] *= factor[i];
  }
}

struct NormaliseArgs {
  BatchNormForward of;
  bool trains = false;  ///< whether the statistics of the micro-batch are used, and not the running ones
  float epsilon = 0;
  Rows rows = {};
  int slabs_per_block = 0;
};

/// The normalisation of kWidth channels: scale * (x - mean) + beta, with scale = gamma * inv_std.
template <int kWidth>
struct ChannelAffines {
  float mean[kWidth], scale[kWidth], beta[kWidth];

  /// Loads the channels from `channel` on.
  __device__ void load_from(const BatchNormForward::Branch& of, bool trains, float epsilon, int channel) {
    load<kWidth>((trains ? of.mean : of.running_mean) + channel, mean);
    load_scale<kWidth>(channel, of.gamma, trains ? of.inv_std : nullptr, of.running_var, epsilon, scale);
    load<kWidth>(of.beta + channel, beta);
  }

  __device__ float normalise(float x, int i) const { return normalised(x - mean[i], scale[i], beta[i]); }
};

/// Computes y = relu(bn(x_0) [+ bn(x_1)] [+ residual]), bn(x) = (x - mean) * (gamma * inv_std) + beta, and, if kMask,
/// the ReLU's mask for backward.
/// Grid: tiles x groups of neighbouring slabs. Block: kThreads. Shared: none. Float32 arithmetic, one rounding to T.
/// Reads x of each branch and the residual, writes y, once each.
template <typename T, int kWidth, int kBranches, bool kRelu, bool kResidual, bool kMask = false>
__global__ void __launch_bounds__(kThreads, kBranches > 1 || kResidual ? 3 : 4) normalise(NormaliseArgs args) {
  const int channel = my_channel<kWidth>();
  const Rows rows = args.rows;
  if (channel >= rows.channels) return;
  ChannelAffines<kWidth> affines[kBranches];
#pragma unroll
  for (int b = 0; b < kBranches; ++b) affines[b].load_from(args.of.branches[b], args.trains, args.epsilon, channel);
  constexpr int kRowsAtOnce = kNormaliseRows<kWidth, kBranches>;
  for_rows_of_block<kRowsAtOnce>(rows, args.slabs_per_block, [&]<int kRows>(Width<kRows>, std::int64_t row) {
    const std::int64_t begin = row * rows.channels + channel, step = std::int64_t{blockDim.y} * rows.channels;
    float x[kBranches][kRows][kWidth];
    [[maybe_unused]] float residual[kRows][kWidth];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int b = 0; b < kBranches; ++b)
        load<kWidth>(static_cast<const T*>(args.of.branches[b].x) + begin + r * step, x[b][r]);
      if constexpr (kResidual) load<kWidth>(static_cast<const T*>(args.of.residual) + begin + r * step, residual[r]);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      [[maybe_unused]] unsigned kept = 0;
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        float value = affines[0].normalise(x[0][r][i], i);
#pragma unroll
        for (int b = 1; b < kBranches; ++b) value += affines[b].normalise(x[b][r][i], i);
        if constexpr (kResidual) value += residual[r][i];
        if constexpr (kMask) kept |= mask_bit<T>(value, i);
        x[0][r][i] = kRelu ? relu(value) : value;
      }
      if constexpr (kMask) write_mask<kWidth>(args.of.mask, begin + r * step, kept);
      store<kWidth>(x[0][r], static_cast<T*>(args.of.y) + begin + r * step);
    }
  });
}

}  // namespace

}  // namespace convoy::ops::cuda
