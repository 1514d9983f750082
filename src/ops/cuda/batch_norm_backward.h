/// Backward kernels of batch normalisation.
#pragma once

#include "ops/cuda/batch_norm_forward.h"
#include "ops/cuda/batch_norm_rows.h"

namespace convoy::ops::cuda {

namespace {

/// How backward finds the values that the ReLU let through: kNone, there is no ReLU; kFromX, computes them again from
/// x, which is exact if there is no residual; kFromForward, reads the mask that forward has stored.
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
struct GradientArgs {
  BatchNormGradInputs in;
  BatchNormGradOutputs out;
  Rows rows;
  FloatSums<2>* partials;  ///< (gridDim.y, C): sums of g and g * (x - mean) of each thread block
  unsigned* counters;      ///< (gridDim.x): argument of is_last_of_tile()
  int slabs_per_block;     ///< number of neighbouring slabs of rows of a thread block in compute_input_gradients
  void* g;                 ///< (N,H,W,C): sum_gradients writes g, dy after the ReLU's mask, here; null: it does not
};

/// Copies the micro-batch's statistics to the "gradients" of the running statistics.
__device__ inline void copy_statistics(const GradientArgs& args, int channel) {
  args.out.mean[channel] = args.in.mean[channel];
  args.out.var_unbiased[channel] = args.in.var_unbiased[channel];
}

/// dbeta = sum g;  dgamma = inv_std * sum g * (x - mean).  g is dy if the ReLU let the value through, else 0.
/// Grid: tiles x at most kGradientBlocks / tiles. Block: kThreads. Shared: 20 KiB. Each thread sums in float32; the
/// sums of threads are added in double. Reads dy, x and, if kFromForward, the mask; writes g unless args.g is null;
/// once each.
template <typename T, int kWidth, Mask kMask, typename Gradients>
__global__ void __launch_bounds__(kThreads, 3) sum_gradients(GradientArgs args, Gradients dy) {
  const Rows rows = args.rows;
  const T* const all_x = static_cast<const T*>(args.in.x);
  // The loops below use local copies of the addresses. The compiler does not know that a store does not change `args`:
  // it would read the address from `args` again for each of kWidth stores of one value.
  T* const all_g = static_cast<T*>(args.g);
  const Sweep<kGradientRows> sweep(rows);
  float sum[kWidth] = {}, products[kWidth] = {};
  if (const int channel = my_channel<kWidth>(); channel < rows.channels) {
    float mean[kWidth];
    [[maybe_unused]] float scale[kWidth], beta[kWidth];
    load<kWidth>(args.in.mean + channel, mean);
    if constexpr (kMask == Mask::kFromX) {
      float inv_std[kWidth];
      load<kWidth>(args.in.gamma + channel, scale);
      load<kWidth>(args.in.inv_std + channel, inv_std);
      load<kWidth>(args.in.beta + channel, beta);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) scale[i] *= inv_std[i];
    }
    for (int slab = sweep.first_slab(); slab >= 0; slab -= static_cast<int>(gridDim.y)) {
      for_rows_of_slab<kGradientRows>(slab, rows.count, [&]<int kRows>(Width<kRows>, std::int64_t row) {
        const std::int64_t begin = row * rows.channels + channel, step = std::int64_t{blockDim.y} * rows.channels;
        float g[kRows][kWidth], x[kRows][kWidth];
        [[maybe_unused]] unsigned kept[kRows];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          dy.template load_row<kWidth>(row + std::int64_t{r} * blockDim.y, channel, g[r]);
          load<kWidth>(all_x + begin + r * step, x[r]);
          if constexpr (kMask == Mask::kFromForward) kept[r] = read_mask<kWidth>(args.in.mask, begin + r * step);
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          if constexpr (kMask == Mask::kFromForward) keep_by(kept[r], g[r]);
#pragma unroll
          for (int i = 0; i < kWidth; ++i) {
            const float centred = x[r][i] - mean[i];
            if constexpr (kMask == Mask::kFromX) {
              if (!forward_was_positive<T>(centred, scale[i], beta[i])) g[r][i] = 0;
            }
            sum[i] += g[r][i];
            products[i] = __fmaf_rn(g[r][i], centred, products[i]);
          }
          if constexpr (kMask != Mask::kFromX) {
            if (all_g != nullptr) store<kWidth>(g[r], all_g + begin + r * step);
          }
        }
      });
    }
  }

  const DoubleSums<2> sums = sum_columns<kWidth>(sum, products);
  const int tile = static_cast<int>(blockDim.x) * kWidth, channel = static_cast<int>(blockIdx.x) * tile + my_thread();
  const bool has_channel = my_thread() < tile && channel < rows.channels;
  if (has_channel) args.partials[std::int64_t{blockIdx.y} * rows.channels + channel] = narrowed(sums);
  if (!is_last_of_tile(args.counters)) return;

  const DoubleSums<2> merged =
      merge_blocks<kWidth>(args.partials, rows, [](int, const FloatSums<2>& partial) { return widened(partial); });
  if (has_channel) {
    args.out.dbeta[channel] = static_cast<float>(merged.of[0]);
    args.out.dgamma[channel] = static_cast<float>(merged.of[1] * double{args.in.inv_std[channel]});
    copy_statistics(args, channel);
  }
}

// --- Kernels that write dx --------------------------------------------------------------------------------------

constexpr int kInputRows = 2;

/// The mean, scale and slope of kWidth channels in dx = scale * (g - mean_g - (x - mean) * slope). mean_g = dbeta / n
/// is not among them.
template <int kWidth>
struct InputGradientColumns {
  /// `In` and `Out` are BatchNormGradInputs and BatchNormGradOutputs, or the types of one branch of a BatchNormSumOp.
  template <typename In, typename Out>
  __device__ InputGradientColumns(const In& in, const Out& out, int channel, float inverse_count) {
    float inv_std[kWidth];
    load<kWidth>(in.mean + channel, mean);
    load<kWidth>(in.gamma + channel, scale);
    load<kWidth>(in.inv_std + channel, inv_std);
    load<kWidth>(out.dgamma + channel, slope);
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

/// Loads mean_g = dbeta / n, the mean of g, of kWidth channels.
template <int kWidth>
__device__ void load_mean_g(const float* dbeta, int channel, float inverse_count, float (&mean_g)[kWidth]) {
  load<kWidth>(dbeta + channel, mean_g);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) mean_g[i] *= inverse_count;
}

/// dx = gamma * inv_std * (g - dbeta / n - xhat * dgamma / n),  xhat = (x - mean) * inv_std.
/// Grid: tiles x groups of neighbouring slabs. Block: kThreads. Shared: none. Float32 arithmetic, one rounding to T.
/// Reads x and what `dy` loads, writes dx, once each. `dy` loads g; if kMaskFromX, it loads the gradient before the
/// ReLU's mask, which is computed from x.
template <typename T, int kWidth, bool kMaskFromX, typename Gradients>
__global__ void __launch_bounds__(kThreads, kMaskFromX || Gradients::kAreGathered ? 3 : 4)
    compute_input_gradients(GradientArgs args, Gradients dy) {
  const int channel = my_channel<kWidth>();
  const Rows rows = args.rows;
  if (channel >= rows.channels) return;
  const T* const all_x = static_cast<const T*>(args.in.x);
  T* const all_dx = static_cast<T*>(args.out.dx);  // by value, as in sum_gradients
  const float inverse_count = __fdiv_rn(1.0f, static_cast<float>(rows.count));
  const InputGradientColumns<kWidth> columns(args.in, args.out, channel, inverse_count);
  float mean_g[kWidth];
  load_mean_g<kWidth>(args.out.dbeta, channel, inverse_count, mean_g);
  [[maybe_unused]] float beta[kWidth];
  if constexpr (kMaskFromX) load<kWidth>(args.in.beta + channel, beta);
  for_rows_of_block<kInputRows>(rows, args.slabs_per_block, [&]<int kRows>(Width<kRows>, std::int64_t row) {
    const std::int64_t begin = row * rows.channels + channel, step = std::int64_t{blockDim.y} * rows.channels;
    float g[kRows][kWidth], x[kRows][kWidth];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      dy.template load_row<kWidth>(row + std::int64_t{r} * blockDim.y, channel, g[r]);
      load<kWidth>(all_x + begin + r * step, x[r]);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        const float centred = x[r][i] - columns.mean[i];
        if constexpr (kMaskFromX) {
          if (!forward_was_positive<T>(centred, columns.scale[i], beta[i])) g[r][i] = 0;
        }
        g[r][i] = columns.dx(i, centred, g[r][i] - mean_g[i]);
      }
      store<kWidth>(g[r], all_dx + begin + r * step);
    }
  });
}

// --- Backward of inference --------------------------------------------------------------------------------------

struct InferenceGradientArgs {
  BatchNormInferenceGrad of;  ///< the tensors and parameters; dresidual is null if there is no residual
  float epsilon;
  Rows rows;
  int slabs_per_block;
};

/// dresidual = g;  dx = g * gamma / sqrt(variance + epsilon).  g is dy if the ReLU let the value through, else 0.
/// Grid: tiles x groups of neighbouring slabs. Block: kThreads. Shared: none. Float32 arithmetic, one rounding to T.
/// Reads dy and, if kRelu, y; writes dx and, unless it is null, dresidual; once each.
template <typename T, int kWidth, bool kRelu, typename Gradients>
__global__ void __launch_bounds__(kThreads, 4) compute_inference_gradients(InferenceGradientArgs args, Gradients dy) {
  const int channel = my_channel<kWidth>();
  const Rows rows = args.rows;
  if (channel >= rows.channels) return;
  float scale[kWidth];
  load_scale<kWidth>(channel, args.of.gamma, nullptr, args.of.running_var, args.epsilon, scale);
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
      if (args.of.dresidual != nullptr) store<kWidth>(g[r], static_cast<T*>(args.of.dresidual) + begin + r * step);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) g[r][i] *= scale[i];
      store<kWidth>(g[r], static_cast<T*>(args.of.dx) + begin + r * step);
    }
  });
}

}  // namespace

}  // namespace convoy::ops::cuda
