/// Forward kernels of batch normalisation. Included only by batch_norm.cu.
#pragma once

#include <cstdint>

#include "convoy/ops/batch_norm.h"

#include "ops/cuda/batch_norm_rows.h"
#include "ops/cuda/relu_mask.h"

namespace convoy::ops::cuda {

namespace {

/// The ReLU's argument, less the residual. Backward computes it with the same roundings.
__device__ inline float normalised(float centred, float scale, float beta) {
  return __fmaf_rn(centred, scale, beta);
}

// --- The pass of sums -------------------------------------------------------------------------------------------

constexpr int kSumRows = 4;
constexpr std::int64_t kSumBlocks = 512;  // 4 to a multiprocessor of 132: all at once

struct StatisticsArgs {
  BatchNormInputs in;
  BatchNormOutputs out;
  float epsilon;
  Rows rows;
  FloatPair* partials;  ///< (blocks of a tile, C): mean and sum of squared deviations
  unsigned* counters;   ///< (tiles)
};

/// `difference`: the sum of squared deviations, or a hair below 0 by rounding.
__device__ inline void write_statistics(const StatisticsArgs& args, int channel, double mean, double difference) {
  const auto count = static_cast<double>(args.rows.count);
  const double m2 = difference < 0 ? 0 : difference;  // NaN stays NaN
  args.out.mean[channel] = static_cast<float>(mean);
  args.out.inv_std[channel] = static_cast<float>(1.0 / sqrt(m2 / count + double{args.epsilon}));
  args.out.var_unbiased[channel] = static_cast<float>(m2 / (count > 1 ? count - 1 : 1.0));
}

/// mean, inv_std, var_unbiased of x.
/// Grid: tiles x at most kSumBlocks / tiles. Block: kThreads. Shared: 20 KiB. Reads x once.
/// A thread sums x - s and (x - s)^2 in float32, s its block's first row, so that a large mean cancels before it is
/// squared; all else is added in double.
/// The last block of a tile merges all (Chan, Golub & LeVeque 1983), relative to block 0's mean m:
///   mean = m + sum_b n_b (mean_b - m) / n     m2 = sum_b m2_b + n_b (mean_b - m)^2 - n (mean - m)^2
template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads, 4) compute_statistics(StatisticsArgs args) {
  const Rows rows = args.rows;
  const T* const all_x = static_cast<const T*>(args.in.x);
  const Sweep<kSumRows> sweep(rows);
  float sum[kWidth] = {}, squares[kWidth] = {};
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
            sum[i] += d;
            squares[i] = __fmaf_rn(d, d, squares[i]);
          }
        }
      });
    }
  }

  const DoublePair sums = sum_columns<kWidth>(sum, squares);
  const int tile = static_cast<int>(blockDim.x) * kWidth, channel = static_cast<int>(blockIdx.x) * tile + my_thread();
  const bool has_channel = my_thread() < tile && channel < rows.channels;
  if (has_channel) {
    const float shift = to_float(all_x[sweep.first_row() * rows.channels + channel]);
    const double shifted_mean = sums.first / static_cast<double>(sweep.rows_of_block(static_cast<int>(blockIdx.y)));
    args.partials[std::int64_t{blockIdx.y} * rows.channels + channel] = {
        static_cast<float>(double{shift} + shifted_mean), static_cast<float>(sums.second - sums.first * shifted_mean)};
  }
  if (!is_last_of_tile(args.counters)) return;

  const int some_channel = static_cast<int>(blockIdx.x) * tile + my_thread() % tile;
  const double base = some_channel < rows.channels ? double{args.partials[some_channel].first} : 0;
  const DoublePair merged = merge_blocks<kWidth>(args.partials, rows, [&](int b, const FloatPair& partial) {
    const double offset = double{partial.first} - base, weighted = static_cast<double>(sweep.rows_of_block(b)) * offset;
    return DoublePair{weighted, double{partial.second} + weighted * offset};
  });
  if (has_channel) {
    const double offset = merged.first / static_cast<double>(rows.count);
    write_statistics(args, channel, base + offset, merged.second - merged.first * offset);
  }
}

// --- The pass of results ----------------------------------------------------------------------------------------

constexpr int kNormaliseRows = 4;

struct NormaliseArgs {
  BatchNormInference of;           ///< in training running_mean is the micro-batch's, and running_var null
  const float* inv_std = nullptr;  ///< null in inference
  std::uint8_t* mask = nullptr;    ///< with kMask
  float epsilon = 0;
  Rows rows = {};
  int slabs_per_block = 0;
};

/// y = relu((x - mean) * (gamma * inv_std) + beta [+ residual]), and with kMask what backward is told of the ReLU.
/// Grid: tiles x groups of neighbouring slabs. Block: kThreads. Shared: none. Float32 arithmetic, one rounding to T.
/// Reads x and the residual, writes y, once each.
template <typename T, int kWidth, bool kRelu, bool kResidual, bool kMask = false>
__global__ void __launch_bounds__(kThreads, kResidual ? 3 : 4) normalise(NormaliseArgs args) {
  const int channel = my_channel<kWidth>();
  const Rows rows = args.rows;
  if (channel >= rows.channels) return;
  float mean[kWidth], scale[kWidth], beta[kWidth];
  {
    float gamma[kWidth], inv_std[kWidth];
    load<kWidth>(args.of.gamma + channel, gamma);
    load<kWidth>(args.of.beta + channel, beta);
    load<kWidth>(args.of.running_mean + channel, mean);
    load<kWidth>((args.inv_std != nullptr ? args.inv_std : args.of.running_var) + channel, inv_std);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      if (args.inv_std == nullptr) inv_std[i] = __fdiv_rn(1.0f, __fsqrt_rn(inv_std[i] + args.epsilon));
      scale[i] = gamma[i] * inv_std[i];
    }
  }
  for_rows_of_block<kNormaliseRows>(rows, args.slabs_per_block, [&]<int kRows>(Width<kRows>, std::int64_t row) {
    const std::int64_t begin = row * rows.channels + channel, step = std::int64_t{blockDim.y} * rows.channels;
    float x[kRows][kWidth];
    [[maybe_unused]] float residual[kRows][kWidth];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      load<kWidth>(static_cast<const T*>(args.of.x) + begin + r * step, x[r]);
      if constexpr (kResidual) load<kWidth>(static_cast<const T*>(args.of.residual) + begin + r * step, residual[r]);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      [[maybe_unused]] unsigned kept = 0;
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        float value = normalised(x[r][i] - mean[i], scale[i], beta[i]);
        if constexpr (kResidual) value += residual[r][i];
        if constexpr (kMask) kept |= mask_bit<T>(value, i);
        x[r][i] = kRelu && value <= 0 ? 0.0f : value;  // NaN stays NaN
      }
      if constexpr (kMask) write_mask<kWidth>(args.mask, begin + r * step, kept);
      store<kWidth>(x[r], static_cast<T*>(args.of.y) + begin + r * step);
    }
  });
}

}  // namespace

}  // namespace convoy::ops::cuda
