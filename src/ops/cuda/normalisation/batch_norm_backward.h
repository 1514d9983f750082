/// Backward kernels of batch normalisation.
#pragma once

#include "ops/cuda/normalisation/batch_norm_forward.h"
#include "ops/cuda/normalisation/batch_norm_rows.h"

namespace convoy::ops::cuda {

namespace {

/// How backward finds the values that the ReLU let through: kNone, there is no ReLU, or the gradient is masked already;
/// kFromX, computes them again from x, which is exact if nothing is added before the ReLU; kFromForward, reads the mask
/// that forward has stored.
enum class Mask { kNone, kFromX, kFromForward };

template <typename T>
__device__ bool forward_was_positive(float centred, float scale, float beta) {
  return normalised(centred, scale, beta) > kRoundsToZero<T>;
}

/// Loads rows of dy from one array.
template <typename T>
struct StoredGradients {
  static constexpr bool kAreGathered = false;

  const void* dy;
  int channels;

  template <int kWidth>
  __device__ void load_row(std::int64_t row, int channel, float (&to)[kWidth]) const {
    load<kWidth>(static_cast<const T*>(dy) + row * channels + channel, to);
  }
};

/// Loads rows of dy + addend from two arrays. The sum is rounded as if it had been stored as T.
template <typename T>
struct SummedGradients {
  static constexpr bool kAreGathered = false;

  const void *dy, *addend;
  int channels;

  template <int kWidth>
  __device__ void load_row(std::int64_t row, int channel, float (&to)[kWidth]) const {
    float added[kWidth];
    load<kWidth>(static_cast<const T*>(dy) + row * channels + channel, to);
    load<kWidth>(static_cast<const T*>(addend) + row * channels + channel, added);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) to[i] = as_stored<T>(to[i] + added[i]);
  }
};

/// Calls body with StoredGradients if addend is null, else with SummedGradients.
template <typename T, typename Body>
void with_gradients(const void* dy, const void* addend, const Rows& rows, const Body& body) {
  if (addend != nullptr) return body(SummedGradients<T>{dy, addend, rows.channels});
  body(StoredGradients<T>{dy, rows.channels});
}

// --- Kernels that sum over rows ---------------------------------------------------------------------------------

constexpr int kGradientRows = 2;
constexpr std::int64_t kGradientBlocks = 384;  // 3 on each of 132 multiprocessors: all run at once

/// The arguments of the two kernels of backward: sum_gradients and compute_input_gradients.
template <int kBranches>
struct GradientArgs {
  BatchNormBackward of;
  Rows rows;
  FloatSums<1 + kBranches>* partials;  ///< (gridDim.y, C): sums of g and g * (x - mean) of each thread block
  unsigned* counters;                  ///< (gridDim.x): argument of is_last_of_tile()
  int slabs_per_block;  ///< number of neighbouring slabs of rows of a thread block in compute_input_gradients
  void* g;              ///< (N,H,W,C): sum_gradients writes g, dy after the ReLU's mask, here; null: it does not
};

/// Writes the gradients of a branch's parameters, and copies the micro-batch's statistics to the "gradients" of the
/// running statistics. `products` is the sum of g * (x - mean).
__device__ inline void finish_branch(const BatchNormBackward::Branch& of, int channel, double sum, double products) {
  of.dbeta[channel] = static_cast<float>(sum);
  of.dgamma[channel] = static_cast<float>(products * double{of.inv_std[channel]});
  of.drunning_mean[channel] = of.mean[channel];
  of.drunning_var[channel] = of.var_unbiased[channel];
}

/// dbeta = sum g;  dgamma = inv_std * sum g * (x - mean) in each branch.  g is dy if the ReLU let the value through,
/// else 0.
/// Grid: tiles x at most kGradientBlocks / tiles. Block: kThreads. Shared: 20 KiB. Each thread sums in float32; the
/// sums of threads are added in double. Reads dy, x of each branch and, if kFromForward, the mask (in packs of kPack);
/// writes g unless args.g is null; once each.
template <typename T, int kWidth, int kPack, int kBranches, Mask kMask, typename Gradients>
__global__ void __launch_bounds__(kThreads, 3) sum_gradients(GradientArgs<kBranches> args, Gradients dy) {
  const Rows rows = args.rows;
  // The loops below use local copies of the addresses. The compiler does not know that a store does not change `args`:
  // it would read the address from `args` again for each of kWidth stores of one value.
  const T* all_x[kBranches];
#pragma unroll
  for (int b = 0; b < kBranches; ++b) all_x[b] = static_cast<const T*>(args.of.branches[b].x);
  T* const all_g = static_cast<T*>(args.g);
  const Sweep<kGradientRows> sweep(rows);
  float sum[1 + kBranches][kWidth] = {};  // of g, and of g * (x - mean) for each branch
  if (const int channel = my_channel<kWidth>(); channel < rows.channels) {
    float mean[kBranches][kWidth];
    [[maybe_unused]] float scale[kWidth], beta[kWidth];
#pragma unroll
    for (int b = 0; b < kBranches; ++b) load<kWidth>(args.of.branches[b].mean + channel, mean[b]);
    if constexpr (kMask == Mask::kFromX) {
      float inv_std[kWidth];
      load<kWidth>(args.of.branches[0].gamma + channel, scale);
      load<kWidth>(args.of.branches[0].inv_std + channel, inv_std);
      load<kWidth>(args.of.branches[0].beta + channel, beta);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) scale[i] *= inv_std[i];
    }
    for (int slab = sweep.first_slab(); slab >= 0; slab -= static_cast<int>(gridDim.y)) {
      for_rows_of_slab<kGradientRows>(slab, rows.count, [&]<int kRows>(Width<kRows>, std::int64_t row) {
        const std::int64_t begin = row * rows.channels + channel, step = std::int64_t{blockDim.y} * rows.channels;
        float g[kRows][kWidth], x[kBranches][kRows][kWidth];
        [[maybe_unused]] unsigned kept[kRows];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          dy.template load_row<kWidth>(row + std::int64_t{r} * blockDim.y, channel, g[r]);
#pragma unroll
          for (int b = 0; b < kBranches; ++b) load<kWidth>(all_x[b] + begin + r * step, x[b][r]);
          if constexpr (kMask == Mask::kFromForward) kept[r] = read_mask<kWidth, kPack>(args.of.mask, begin + r * step);
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          if constexpr (kMask == Mask::kFromForward) keep_by(kept[r], g[r]);
#pragma unroll
          for (int i = 0; i < kWidth; ++i) {
            if constexpr (kMask == Mask::kFromX) {
              if (!forward_was_positive<T>(x[0][r][i] - mean[0][i], scale[i], beta[i])) g[r][i] = 0;
            }
            sum[0][i] += g[r][i];
#pragma unroll
            for (int b = 0; b < kBranches; ++b)
              sum[1 + b][i] = __fmaf_rn(g[r][i], x[b][r][i] - mean[b][i], sum[1 + b][i]);
          }
          if constexpr (kMask != Mask::kFromX) {
            if (all_g != nullptr) store<kWidth>(g[r], all_g + begin + r * step);
          }
        }
      });
    }
  }

  const DoubleSums<1 + kBranches> sums = sum_columns(sum);
  const int tile = static_cast<int>(blockDim.x) * kWidth, channel = static_cast<int>(blockIdx.x) * tile + my_thread();
  const bool has_channel = my_thread() < tile && channel < rows.channels;
  if (has_channel) args.partials[std::int64_t{blockIdx.y} * rows.channels + channel] = narrowed(sums);
  if (!is_last_of_tile(args.counters)) return;

  const DoubleSums<1 + kBranches> merged = merge_blocks<kWidth>(
      args.partials, rows, [](int, const FloatSums<1 + kBranches>& partial) { return widened(partial); });
  if (has_channel) {
#pragma unroll
    for (int b = 0; b < kBranches; ++b) finish_branch(args.of.branches[b], channel, merged.of[0], merged.of[1 + b]);
  }
}

// --- Kernels that write dx --------------------------------------------------------------------------------------

constexpr int kInputRows = 2;

/// The mean, scale and slope of kWidth channels in dx = scale * (g - mean_g - (x - mean) * slope). mean_g = dbeta / n
/// is not among them.
template <int kWidth>
struct InputGradientColumns {
  __device__ void load_from(const BatchNormBackward::Branch& of, int channel, float inverse_count) {
    float inv_std[kWidth];
    load<kWidth>(of.mean + channel, mean);
    load<kWidth>(of.gamma + channel, scale);
    load<kWidth>(of.inv_std + channel, inv_std);
    load<kWidth>(of.dgamma + channel, slope);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      scale[i] *= inv_std[i];
      slope[i] *= inv_std[i] * inverse_count;
    }
  }

  __device__ float dx(int i, float centred_x, float centred_g) const {
    return scale[i] * __fmaf_rn(-centred_x, slope[i], centred_g);
  }

  float mean[kWidth], scale[kWidth], slope[kWidth];
};

/// dx = gamma * inv_std * (g - dbeta / n - xhat * dgamma / n),  xhat = (x - mean) * inv_std, in each branch.
/// Grid: tiles x groups of neighbouring slabs. Block: kThreads. Shared: none. Float32 arithmetic, one rounding to T.
/// Reads x of each branch, what `dy` loads and, if kFromForward, the mask (in packs of kPack), writes dx, once each.
/// `dy` loads g, or the gradient before the ReLU's mask kMask.
template <typename T, int kWidth, int kPack, int kBranches, Mask kMask, typename Gradients>
__global__ void __launch_bounds__(kThreads, kBranches > 1 || kMask == Mask::kFromX || Gradients::kAreGathered ? 3 : 4)
    compute_input_gradients(GradientArgs<kBranches> args, Gradients dy) {
  const int channel = my_channel<kWidth>();
  const Rows rows = args.rows;
  if (channel >= rows.channels) return;
  const float inverse_count = __fdiv_rn(1.0f, static_cast<float>(rows.count));
  const T* all_x[kBranches];
  T* all_dx[kBranches];  // by value, as in sum_gradients
  InputGradientColumns<kWidth> columns[kBranches];
#pragma unroll
  for (int b = 0; b < kBranches; ++b) {
    all_x[b] = static_cast<const T*>(args.of.branches[b].x);
    all_dx[b] = static_cast<T*>(args.of.branches[b].dx);
    columns[b].load_from(args.of.branches[b], channel, inverse_count);
  }
  float mean_g[kWidth];
  load<kWidth>(args.of.branches[0].dbeta + channel, mean_g);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) mean_g[i] *= inverse_count;
  [[maybe_unused]] float beta[kWidth];
  if constexpr (kMask == Mask::kFromX) load<kWidth>(args.of.branches[0].beta + channel, beta);
  for_rows_of_block<kInputRows>(rows, args.slabs_per_block, [&]<int kRows>(Width<kRows>, std::int64_t row) {
    const std::int64_t begin = row * rows.channels + channel, step = std::int64_t{blockDim.y} * rows.channels;
    float g[kRows][kWidth], x[kBranches][kRows][kWidth];
    [[maybe_unused]] unsigned kept[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      dy.template load_row<kWidth>(row + std::int64_t{r} * blockDim.y, channel, g[r]);
#pragma unroll
      for (int b = 0; b < kBranches; ++b) load<kWidth>(all_x[b] + begin + r * step, x[b][r]);
      if constexpr (kMask == Mask::kFromForward) kept[r] = read_mask<kWidth, kPack>(args.of.mask, begin + r * step);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if constexpr (kMask == Mask::kFromForward) keep_by(kept[r], g[r]);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        if constexpr (kMask == Mask::kFromX) {
          if (!forward_was_positive<T>(x[0][r][i] - columns[0].mean[i], columns[0].scale[i], beta[i])) g[r][i] = 0;
        }
        const float centred_g = g[r][i] - mean_g[i];
#pragma unroll
        for (int b = 0; b < kBranches; ++b) x[b][r][i] = columns[b].dx(i, x[b][r][i] - columns[b].mean[i], centred_g);
      }
#pragma unroll
      for (int b = 0; b < kBranches; ++b) store<kWidth>(x[b][r], all_dx[b] + begin + r * step);
    }
  });
}

// --- Backward of inference --------------------------------------------------------------------------------------

struct InferenceGradientArgs {
  BatchNormBackward of;  ///< dresidual is null if there is no residual
  float epsilon;
  Rows rows;
  int slabs_per_block;
};

/// dresidual = g;  dx = g * gamma / sqrt(variance + epsilon) in each branch.
/// g is dy if the ReLU let the value through, else 0.
/// Grid: tiles x groups of neighbouring slabs. Block: kThreads. Shared: none. Float32 arithmetic, one rounding to T.
/// Reads dy and, if kRelu, y; writes dx of each branch and, unless it is null, dresidual; once each.
template <typename T, int kWidth, int kBranches, bool kRelu, typename Gradients>
__global__ void __launch_bounds__(kThreads, 4) compute_inference_gradients(InferenceGradientArgs args, Gradients dy) {
  const int channel = my_channel<kWidth>();
  const Rows rows = args.rows;
  if (channel >= rows.channels) return;
  T* const all_dresidual = static_cast<T*>(args.of.dresidual);  // by value, as in sum_gradients
  T* all_dx[kBranches];
  float scale[kBranches][kWidth];
#pragma unroll
  for (int b = 0; b < kBranches; ++b) {
    const BatchNormBackward::Branch& of = args.of.branches[b];
    all_dx[b] = static_cast<T*>(of.dx);
    load_scale<kWidth>(channel, of.gamma, nullptr, of.running_var, args.epsilon, scale[b]);
  }
  for_rows_of_block<kInputRows>(rows, args.slabs_per_block, [&]<int kRows>(Width<kRows>, std::int64_t row) {
    const std::int64_t begin = row * rows.channels + channel, step = std::int64_t{blockDim.y} * rows.channels;
    float g[kRows][kWidth];
    [[maybe_unused]] float y[kRows][kWidth];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      dy.template load_row<kWidth>(row + std::int64_t{r} * blockDim.y, channel, g[r]);
      if constexpr (kRelu) load<kWidth>(static_cast<const T*>(args.of.y) + begin + r * step, y[r]);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if constexpr (kRelu) {
#pragma unroll
        for (int i = 0; i < kWidth; ++i) g[r][i] = y[r][i] > 0 ? g[r][i] : 0.0f;
      }
      if (kBranches == 1 && all_dresidual != nullptr) store<kWidth>(g[r], all_dresidual + begin + r * step);
#pragma unroll
      for (int b = 0; b < kBranches; ++b) {
        float dx[kWidth];
#pragma unroll
        for (int i = 0; i < kWidth; ++i) dx[i] = g[r][i] * scale[b][i];
        store<kWidth>(dx, all_dx[b] + begin + r * step);
      }
    }
  });
}

}  // namespace

}  // namespace convoy::ops::cuda
