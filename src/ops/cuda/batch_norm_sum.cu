/// Two batch normalisations, their sum and its ReLU on a GPU: passes of sums, then a pass of results that reads only
/// once what both have in common.
#include <algorithm>
#include <memory>

#include "convoy/ops/batch_norm_sum.h"

#include "ops/cuda/batch_norm_backward.h"
#include "ops/cuda/batch_norm_forward.h"
#include "ops/cuda/batch_norm_rows.h"
#include "ops/cuda/relu_mask.h"
#include "ops/cuda/resources.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

// --- Forward ----------------------------------------------------------------------------------------------------

/// The number of rows that a thread reads at once: as many as registers allow in addition to the numbers of two
/// branches.
template <int kWidth>
constexpr int kSummedRows = kWidth > 4 ? 1 : 2;

struct NormaliseSumArgs {
  BatchNormSumInference of;  ///< tensors; in training running_mean is the micro-batch's, and running_var null
  const float *inv_std_a = nullptr, *inv_std_b = nullptr;  ///< null in inference
  std::uint8_t* mask = nullptr;                            ///< null: not written
  float epsilon = 0;
  Rows rows = {};
  int slabs_per_block = 0;
};

/// y = relu(bn(a) + bn(b)),  bn(x) = (x - mean) * (gamma * inv_std) + beta,  and the ReLU's mask.
/// Grid: tiles x groups of neighbouring slabs. Block: kThreads. Shared: none. Float32 arithmetic, one rounding to T.
/// Reads a and b, writes y, once each.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads, 3) normalise_sum(NormaliseSumArgs args) {
  const int channel = my_channel<kWidth>();
  const Rows rows = args.rows;
  if (channel >= rows.channels) return;
  const BatchNormSumInference::Branch &of_a = args.of.a, &of_b = args.of.b;
  const ChannelAffines<kWidth> affines_a(of_a, args.inv_std_a, args.epsilon, channel),
      affines_b(of_b, args.inv_std_b, args.epsilon, channel);
  for_rows_of_block<kSummedRows<kWidth>>(rows, args.slabs_per_block, [&]<int kRows>(Width<kRows>, std::int64_t row) {
    const std::int64_t begin = row * rows.channels + channel, step = std::int64_t{blockDim.y} * rows.channels;
    float a[kRows][kWidth], b[kRows][kWidth];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      load<kWidth>(static_cast<const T*>(of_a.x) + begin + r * step, a[r]);
      load<kWidth>(static_cast<const T*>(of_b.x) + begin + r * step, b[r]);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      unsigned kept = 0;
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        const float value = affines_a.normalise(a[r][i], i) + affines_b.normalise(b[r][i], i);
        kept |= mask_bit<T>(value, i);
        a[r][i] = relu(value);
      }
      if (args.mask != nullptr) write_mask<kWidth>(args.mask, begin + r * step, kept);
      store<kWidth>(a[r], static_cast<T*>(args.of.y) + begin + r * step);
    }
  });
}

// --- Backward ---------------------------------------------------------------------------------------------------

/// The arguments of all passes of backward.
struct SumGradientArgs {
  BatchNormSumGradInputs in;
  BatchNormSumGradOutputs out;
  void* g;  ///< (N,H,W,C) in T: the pass of sums writes g here; null: it does not
  Rows rows;
  FloatSums<3>* partials;  ///< (blocks of a tile, C): sums of g, g * (a - mean_a), g * (b - mean_b)
  unsigned* counters;      ///< (tiles)
  int slabs_per_block;     ///< slabs of a block in the pass of results
};

__device__ inline void finish_branch(const BatchNormSumGradInputs::Branch& in,
                                     const BatchNormSumGradOutputs::Branch& out, int channel, double sum,
                                     double products) {
  out.dbeta[channel] = static_cast<float>(sum);
  out.dgamma[channel] = static_cast<float>(products * double{in.inv_std[channel]});
  out.mean[channel] = in.mean[channel];
  out.var_unbiased[channel] = in.var_unbiased[channel];
}

/// dbeta = sum g;  dgamma = inv_std * sum g * (x - mean) in both branches.  g is dy if the ReLU let the value through,
/// else 0.
/// Grid: tiles x at most kGradientBlocks / tiles. Block: kThreads. Shared: 18 KiB. A thread sums in float32, everything
/// after it in double. Reads dy, the mask (in packs of kPack), a and b, writes g, once each.
template <typename T, int kWidth, int kPack, typename Gradients>
__global__ void __launch_bounds__(kThreads, 3) sum_gradients_of_both(SumGradientArgs args, Gradients dy) {
  const Rows rows = args.rows;
  const T *const all_a = static_cast<const T*>(args.in.a.x), *const all_b = static_cast<const T*>(args.in.b.x);
  T* const all_g = static_cast<T*>(args.g);  // by value, as in sum_gradients
  const Sweep<kGradientRows> sweep(rows);
  float sum[kWidth] = {}, products_a[kWidth] = {}, products_b[kWidth] = {};
  if (const int channel = my_channel<kWidth>(); channel < rows.channels) {
    float mean_a[kWidth], mean_b[kWidth];
    load<kWidth>(args.in.a.mean + channel, mean_a);
    load<kWidth>(args.in.b.mean + channel, mean_b);
    for (int slab = sweep.first_slab(); slab >= 0; slab -= static_cast<int>(gridDim.y)) {
      for_rows_of_slab<kGradientRows>(slab, rows.count, [&]<int kRows>(Width<kRows>, std::int64_t row) {
        const std::int64_t begin = row * rows.channels + channel, step = std::int64_t{blockDim.y} * rows.channels;
        float g[kRows][kWidth], a[kRows][kWidth], b[kRows][kWidth];
        unsigned kept[kRows];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          dy.template load_row<kWidth>(row + std::int64_t{r} * blockDim.y, channel, g[r]);
          load<kWidth>(all_a + begin + r * step, a[r]);
          load<kWidth>(all_b + begin + r * step, b[r]);
          kept[r] = read_mask<kWidth, kPack>(args.in.mask, begin + r * step);
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          keep_by(kept[r], g[r]);
#pragma unroll
          for (int i = 0; i < kWidth; ++i) {
            sum[i] += g[r][i];
            products_a[i] = __fmaf_rn(g[r][i], a[r][i] - mean_a[i], products_a[i]);
            products_b[i] = __fmaf_rn(g[r][i], b[r][i] - mean_b[i], products_b[i]);
          }
          if (all_g != nullptr) store<kWidth>(g[r], all_g + begin + r * step);
        }
      });
    }
  }

  const DoubleSums<3> sums = sum_columns<kWidth>(sum, products_a, products_b);
  const int tile = static_cast<int>(blockDim.x) * kWidth, channel = static_cast<int>(blockIdx.x) * tile + my_thread();
  const bool has_channel = my_thread() < tile && channel < rows.channels;
  if (has_channel) args.partials[std::int64_t{blockIdx.y} * rows.channels + channel] = narrowed(sums);
  if (!is_last_of_tile(args.counters)) return;

  const DoubleSums<3> merged =
      merge_blocks<kWidth>(args.partials, rows, [](int, const FloatSums<3>& partial) { return widened(partial); });
  if (has_channel) {
    finish_branch(args.in.a, args.out.a, channel, merged.of[0], merged.of[1]);
    finish_branch(args.in.b, args.out.b, channel, merged.of[0], merged.of[2]);
  }
}

/// dx = gamma * inv_std * (g - dbeta / n - xhat * dgamma / n),  xhat = (x - mean) * inv_std,  in both branches.
/// Grid: tiles x groups of neighbouring slabs. Block: kThreads. Shared: none. Float32 arithmetic, one rounding to T.
/// Reads dy or g, which args.in.dy points to here, the mask (in packs of kPack), a and b, writes da and db, once each.
template <typename T, int kWidth, int kPack>
__global__ void __launch_bounds__(kThreads, 3) compute_input_gradients_of_both(SumGradientArgs args) {
  const int channel = my_channel<kWidth>();
  const Rows rows = args.rows;
  if (channel >= rows.channels) return;
  const float inverse_count = __fdiv_rn(1.0f, static_cast<float>(rows.count));
  const InputGradientColumns<kWidth> of_a(args.in.a, args.out.a, channel, inverse_count),
      of_b(args.in.b, args.out.b, channel, inverse_count);
  float mean_g[kWidth];
  load_mean_g<kWidth>(args.out.a.dbeta, channel, inverse_count, mean_g);
  for_rows_of_block<kInputRows>(rows, args.slabs_per_block, [&]<int kRows>(Width<kRows>, std::int64_t row) {
    const std::int64_t begin = row * rows.channels + channel, step = std::int64_t{blockDim.y} * rows.channels;
    float g[kRows][kWidth], a[kRows][kWidth], b[kRows][kWidth];
    unsigned kept[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      load<kWidth>(static_cast<const T*>(args.in.dy) + begin + r * step, g[r]);
      load<kWidth>(static_cast<const T*>(args.in.a.x) + begin + r * step, a[r]);
      load<kWidth>(static_cast<const T*>(args.in.b.x) + begin + r * step, b[r]);
      kept[r] = read_mask<kWidth, kPack>(args.in.mask, begin + r * step);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      keep_by(kept[r], g[r]);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        const float centred_g = g[r][i] - mean_g[i];
        a[r][i] = of_a.dx(i, a[r][i] - of_a.mean[i], centred_g);
        b[r][i] = of_b.dx(i, b[r][i] - of_b.mean[i], centred_g);
      }
      store<kWidth>(a[r], static_cast<T*>(args.out.a.dx) + begin + r * step);
      store<kWidth>(b[r], static_cast<T*>(args.out.b.dx) + begin + r * step);
    }
  });
}

struct SumInferenceGradientArgs {
  BatchNormSumInferenceGrad of;
  float epsilon;
  Rows rows;
  int slabs_per_block;
};

/// dx = g * gamma / sqrt(variance + epsilon) in both branches.  g is dy if the ReLU let the value through, else 0.
/// Grid: tiles x groups of neighbouring slabs. Block: kThreads. Shared: none. Float32 arithmetic, one rounding to T.
/// Reads dy and y, writes da and db, once each.
template <typename T, int kWidth, typename Gradients>
__global__ void __launch_bounds__(kThreads, 4)
    compute_inference_gradients_of_both(SumInferenceGradientArgs args, Gradients dy) {
  const int channel = my_channel<kWidth>();
  const Rows rows = args.rows;
  if (channel >= rows.channels) return;
  float scale_a[kWidth], scale_b[kWidth];
  load_scale<kWidth>(channel, args.of.a.gamma, nullptr, args.of.a.running_var, args.epsilon, scale_a);
  load_scale<kWidth>(channel, args.of.b.gamma, nullptr, args.of.b.running_var, args.epsilon, scale_b);
  for_rows_of_block<kInputRows>(rows, args.slabs_per_block, [&]<int kRows>(Width<kRows>, std::int64_t row) {
    const std::int64_t begin = row * rows.channels + channel, step = std::int64_t{blockDim.y} * rows.channels;
    float g[kRows][kWidth], y[kRows][kWidth];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      dy.template load_row<kWidth>(row + std::int64_t{r} * blockDim.y, channel, g[r]);
      load<kWidth>(static_cast<const T*>(args.of.y) + begin + r * step, y[r]);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float da[kWidth], db[kWidth];
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        const float kept = y[r][i] > 0 ? g[r][i] : 0.0f;
        da[i] = kept * scale_a[i];
        db[i] = kept * scale_b[i];
      }
      store<kWidth>(da, static_cast<T*>(args.of.a.dx) + begin + r * step);
      store<kWidth>(db, static_cast<T*>(args.of.b.dx) + begin + r * step);
    }
  });
}

// --- The operation ----------------------------------------------------------------------------------------------

/// Backward keeps the numbers of two branches for each channel: with accesses of at most 4 values they fit into
/// registers.
template <typename T, int kWidth>
class CudaBatchNormSum final : public BatchNormSumOp {
 public:
  CudaBatchNormSum(const BatchNormSumSpec& spec, Context& context)
      : spec_(spec),
        grid_(spec.x, kWidth, static_cast<int>(sizeof(T))),
        backward_grid_(spec.x, kBackwardWidth, static_cast<int>(sizeof(T))),
        context_(context),
        counters_(context.device(),
                  std::max(grid_.tiles, backward_grid_.tiles) * static_cast<std::int64_t>(sizeof(unsigned))) {
    const std::int64_t blocks = std::max(statistics_shape().grid.y, gradients_shape().grid.y);
    context_.reserve_scratch(blocks * spec.x.c * static_cast<std::int64_t>(sizeof(FloatSums<3>)));
  }

  void forward(const BatchNormSumInputs& in, const BatchNormSumOutputs& out) override {
    launch_statistics(in.a, out.a);
    launch_statistics(in.b, out.b);
    normalise_by(in, out, out.mask);
  }

  void forward_again(const BatchNormSumInputs& in, const BatchNormSumOutputs& out) override {
    normalise_by(in, out, nullptr);
  }

  void infer(const BatchNormSumInference& args) override { launch_normalise({.of = args, .epsilon = spec_.epsilon}); }

  void backward(const BatchNormSumGradInputs& in, const BatchNormSumGradOutputs& out) override {
    SumGradientArgs args{in,
                         out,
                         in.dy_addend != nullptr ? out.b.dx : nullptr,
                         backward_grid_.rows,
                         reinterpret_cast<FloatSums<3>*>(context_.scratch()),
                         counters(),
                         backward_grid_.slabs_per_result_block(kInputRows)};
    with_gradients<T>(in.dy, in.dy_addend, backward_grid_.rows, [&]<typename Gradients>(Gradients dy) {
      launch(sum_gradients_of_both<T, kBackwardWidth, kWidth, Gradients>, gradients_shape(), context_.stream(), args,
             dy);
    });
    if (args.g != nullptr) args.in.dy = args.g;
    launch(compute_input_gradients_of_both<T, kBackwardWidth, kWidth>, backward_grid_.results_shape(kInputRows),
           context_.stream(), args);
  }

  void infer_backward(const BatchNormSumInferenceGrad& of) override {
    const SumInferenceGradientArgs args{of, spec_.epsilon, grid_.rows, grid_.slabs_per_result_block(kInputRows)};
    with_gradients<T>(of.dy, of.dy_addend, grid_.rows, [&]<typename Gradients>(Gradients dy) {
      launch(compute_inference_gradients_of_both<T, kWidth, Gradients>, grid_.results_shape(kInputRows),
             context_.stream(), args, dy);
    });
  }

 private:
  static constexpr int kBackwardWidth = std::min(kWidth, 4);

  static BatchNormSumInference::Branch by_statistics(const BatchNormSumInputs::Branch& in,
                                                     const BatchNormSumOutputs::Branch& out) {
    return {.x = in.x, .gamma = in.gamma, .beta = in.beta, .running_mean = out.mean};
  }

  LaunchShape statistics_shape() const { return grid_.shape_of(kSumRows, kSumBlocks); }
  LaunchShape gradients_shape() const { return backward_grid_.shape_of(kGradientRows, kGradientBlocks); }

  void launch_statistics(const BatchNormSumInputs::Branch& in, const BatchNormSumOutputs::Branch& out) const {
    const StatisticsArgs args{{.x = in.x},
                              {.mean = out.mean, .inv_std = out.inv_std, .var_unbiased = out.var_unbiased},
                              spec_.epsilon,
                              grid_.rows,
                              reinterpret_cast<FloatSums<2>*>(context_.scratch()),
                              counters()};
    launch(compute_statistics<T, kWidth>, statistics_shape(), context_.stream(), args);
  }

  void normalise_by(const BatchNormSumInputs& in, const BatchNormSumOutputs& out, std::uint8_t* mask) const {
    launch_normalise({.of = {.a = by_statistics(in.a, out.a), .b = by_statistics(in.b, out.b), .y = out.y},
                      .inv_std_a = out.a.inv_std,
                      .inv_std_b = out.b.inv_std,
                      .mask = mask});
  }

  void launch_normalise(NormaliseSumArgs args) const {
    args.rows = grid_.rows;
    args.slabs_per_block = grid_.slabs_per_result_block(kSummedRows<kWidth>);
    launch(normalise_sum<T, kWidth>, grid_.results_shape(kSummedRows<kWidth>), context_.stream(), args);
  }

  unsigned* counters() const { return reinterpret_cast<unsigned*>(counters_.data()); }

  BatchNormSumSpec spec_;
  RowGrid grid_, backward_grid_;
  Context& context_;
  Buffer counters_;
};

}  // namespace

template <>
std::unique_ptr<BatchNormSumOp> make_op(const BatchNormSumSpec& spec, const Resources& resources) {
  return make_wide<CudaBatchNormSum, BatchNormSumOp>(spec.x.c, spec, resources.context);
}

}  // namespace convoy::ops::cuda
