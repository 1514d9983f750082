/// Batch normalisation on a GPU: a pass of sums, then a pass of results, both bound by memory.
#include <algorithm>
#include <memory>

#include "convoy/ops/batch_norm.h"

#include "ops/cuda/batch_norm_backward.h"
#include "ops/cuda/batch_norm_forward.h"
#include "ops/cuda/batch_norm_rows.h"
#include "ops/cuda/image_extents.h"
#include "ops/cuda/resources.h"
#include "ops/cuda/widths.h"
#include "ops/masked_gradient.h"

namespace convoy::ops::cuda {

namespace {

/// Of a pass of results: enough to keep every multiprocessor busy, few enough that a thread's parameters serve 16 rows.
constexpr std::int64_t kResultBlocks = 2048;
constexpr std::int64_t kMaxResultRows = 16;

template <typename T, int kWidth>
class CudaBatchNorm final : public BatchNormOp {
 public:
  CudaBatchNorm(const BatchNormSpec& spec, Context& context)
      : spec_(spec),
        grid_(spec.x, kWidth, static_cast<int>(sizeof(T))),
        context_(context),
        counters_(context.device(), grid_.tiles * static_cast<std::int64_t>(sizeof(unsigned))) {
    const std::int64_t blocks = std::max(statistics_shape().grid.y, gradients_shape().grid.y);
    context_.reserve_scratch(blocks * spec.x.c * static_cast<std::int64_t>(sizeof(FloatPair)));
  }

  void forward(const BatchNormInputs& in, const BatchNormOutputs& out) override {
    const StatisticsArgs args{in, out, spec_.epsilon, grid_.rows, partials(), counters()};
    launch(compute_statistics<T, kWidth>, statistics_shape(), context_.stream(), args);
    normalise_by(in, out, out.mask);
  }

  void forward_again(const BatchNormInputs& in, const BatchNormOutputs& out) override {
    normalise_by(in, out, nullptr);
  }

  void infer(const BatchNormInference& args) override { launch_normalise({.of = args, .epsilon = spec_.epsilon}); }

  void backward(const BatchNormGradInputs& in, const BatchNormGradOutputs& out) override {
    const GradientArgs args{in,
                            out,
                            grid_.rows,
                            partials(),
                            counters(),
                            slabs_per_result_block(kInputRows),
                            masked_gradient(spec_, in, out)};
    if (!spec_.relu) {
      launch_backward<Mask::kNone>(args);
    } else if (spec_.residual) {
      launch_backward<Mask::kFromForward>(args);
    } else {
      launch_backward<Mask::kFromX>(args);
    }
  }

  void infer_backward(const BatchNormInferenceGrad& of) override {
    InferenceGradientArgs args{of, spec_.epsilon, grid_.rows, slabs_per_result_block(kInputRows)};
    if (!spec_.residual) args.of.dresidual = nullptr;
    const auto kernel =
        spec_.relu ? compute_inference_gradients<T, kWidth, true> : compute_inference_gradients<T, kWidth, false>;
    launch(kernel, results_shape(kInputRows), context_.stream(), args);
  }

 private:
  LaunchShape statistics_shape() const { return grid_.shape_of(kSumRows, kSumBlocks); }
  LaunchShape gradients_shape() const { return grid_.shape_of(kGradientRows, kGradientBlocks); }

  int slabs_per_result_block(int rows_at_once) const {
    const std::int64_t slabs = grid_.slabs(rows_at_once), max_slabs = kMaxResultRows / rows_at_once;
    const std::int64_t wanted = std::clamp<std::int64_t>(slabs * grid_.tiles / kResultBlocks, 1, max_slabs);
    return static_cast<int>(std::max(wanted, ceil_div(slabs, kMaxGridHeight)));
  }

  LaunchShape results_shape(int rows_at_once) const {
    return grid_.shape_with(ceil_div(grid_.slabs(rows_at_once), slabs_per_result_block(rows_at_once)));
  }

  void launch_normalise(NormaliseArgs args) const {
    args.rows = grid_.rows;
    args.slabs_per_block = slabs_per_result_block(kNormaliseRows);
    const bool tells = args.mask != nullptr && spec_.relu && spec_.residual;
    const auto kernel = tells ? normalise<T, kWidth, true, true, true>
                        : spec_.relu
                            ? (spec_.residual ? normalise<T, kWidth, true, true> : normalise<T, kWidth, true, false>)
                        : spec_.residual ? normalise<T, kWidth, false, true>
                                         : normalise<T, kWidth, false, false>;
    launch(kernel, results_shape(kNormaliseRows), context_.stream(), args);
  }

  void normalise_by(const BatchNormInputs& in, const BatchNormOutputs& out, std::uint8_t* mask) const {
    launch_normalise({.of = {.x = in.x,
                             .residual = in.residual,
                             .gamma = in.gamma,
                             .beta = in.beta,
                             .running_mean = out.mean,
                             .y = out.y},
                      .inv_std = out.inv_std,
                      .mask = mask});
  }

  template <Mask kMask>
  void launch_backward(GradientArgs args) const {
    auto sum = sum_gradients<T, kWidth, kMask, false>;
    if constexpr (kMask != Mask::kFromX) {
      if (args.in.dy_addend != nullptr) sum = sum_gradients<T, kWidth, kMask, true>;
    }
    launch(sum, gradients_shape(), context_.stream(), args);
    if (args.g != nullptr) args.in.dy = args.g;
    launch(compute_input_gradients<T, kWidth, kMask == Mask::kFromX>, results_shape(kInputRows), context_.stream(),
           args);
  }

  FloatPair* partials() const { return reinterpret_cast<FloatPair*>(context_.scratch()); }
  unsigned* counters() const { return reinterpret_cast<unsigned*>(counters_.data()); }

  BatchNormSpec spec_;
  RowGrid grid_;
  Context& context_;
  Buffer counters_;
};

}  // namespace

template <>
std::unique_ptr<BatchNormOp> make_op(const BatchNormSpec& spec, const Resources& resources) {
  return make_wide<CudaBatchNorm, BatchNormOp>(spec.x.c, spec, resources.context);
}

}  // namespace convoy::ops::cuda
