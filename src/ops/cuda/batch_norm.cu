/// Batch normalisation on a GPU: a pass of sums, then a pass of results, both bound by memory.
#include <algorithm>
#include <memory>

#include "convoy/ops/batch_norm.h"

#include "ops/cuda/batch_norm_backward.h"
#include "ops/cuda/batch_norm_forward.h"
#include "ops/cuda/batch_norm_rows.h"
#include "ops/cuda/resources.h"
#include "ops/cuda/widths.h"
#include "ops/masked_gradient.h"

namespace convoy::ops::cuda {

namespace {

template <typename T, int kWidth>
class CudaBatchNorm final : public BatchNormOp {
 public:
  CudaBatchNorm(const BatchNormSpec& spec, Context& context)
      : spec_(spec),
        grid_(spec.x, kWidth, static_cast<int>(sizeof(T))),
        context_(context),
        counters_(context.device(), grid_.tiles * static_cast<std::int64_t>(sizeof(unsigned))) {
    const std::int64_t blocks = std::max(statistics_shape().grid.y, gradients_shape().grid.y);
    context_.reserve_scratch(blocks * spec.x.c * static_cast<std::int64_t>(sizeof(FloatSums<2>)));
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
                            grid_.slabs_per_result_block(kInputRows),
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
    InferenceGradientArgs args{of, spec_.epsilon, grid_.rows, grid_.slabs_per_result_block(kInputRows)};
    if (!spec_.residual) args.of.dresidual = nullptr;
    with_gradients<T>(of.dy, of.dy_addend, grid_.rows, [&]<typename Gradients>(Gradients dy) {
      const auto kernel = spec_.relu ? compute_inference_gradients<T, kWidth, true, Gradients>
                                     : compute_inference_gradients<T, kWidth, false, Gradients>;
      launch(kernel, grid_.results_shape(kInputRows), context_.stream(), args, dy);
    });
  }

 private:
  LaunchShape statistics_shape() const { return grid_.shape_of(kSumRows, kSumBlocks); }
  LaunchShape gradients_shape() const { return grid_.shape_of(kGradientRows, kGradientBlocks); }

  void launch_normalise(NormaliseArgs args) const {
    args.rows = grid_.rows;
    args.slabs_per_block = grid_.slabs_per_result_block(kNormaliseRows);
    const bool tells = args.mask != nullptr && spec_.relu && spec_.residual;
    const auto kernel = tells ? normalise<T, kWidth, true, true, true>
                        : spec_.relu
                            ? (spec_.residual ? normalise<T, kWidth, true, true> : normalise<T, kWidth, true, false>)
                        : spec_.residual ? normalise<T, kWidth, false, true>
                                         : normalise<T, kWidth, false, false>;
    launch(kernel, grid_.results_shape(kNormaliseRows), context_.stream(), args);
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
  void launch_backward(const GradientArgs& args) const {
    with_gradients<T>(args.in.dy, args.in.dy_addend, grid_.rows, [&]<typename Gradients>(Gradients dy) {
      launch(sum_gradients<T, kWidth, kMask, Gradients>, gradients_shape(), context_.stream(), args, dy);
    });
    const StoredGradients<T> g{args.g != nullptr ? args.g : args.in.dy, grid_.rows.channels};
    launch(compute_input_gradients<T, kWidth, kMask == Mask::kFromX, StoredGradients<T>>,
           grid_.results_shape(kInputRows), context_.stream(), args, g);
  }

  FloatSums<2>* partials() const { return reinterpret_cast<FloatSums<2>*>(context_.scratch()); }
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
