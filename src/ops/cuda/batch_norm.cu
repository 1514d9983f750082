/// Batch normalisation on a GPU: a pass of sums, then a pass of results, both bound by memory.
#include <algorithm>
#include <cassert>
#include <memory>

#include "convoy/ops/batch_norm.h"

#include "ops/cuda/batch_norm_backward.h"
#include "ops/cuda/batch_norm_forward.h"
#include "ops/cuda/batch_norm_rows.h"
#include "ops/cuda/operations.h"
#include "ops/cuda/places.h"
#include "ops/cuda/widths.h"

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
    const StatisticsArgs<T> args{static_cast<const T*>(in.x),
                                 grid_.rows,
                                 spec_.epsilon,
                                 partials(),
                                 counters(),
                                 out.mean,
                                 out.inv_std,
                                 out.var_unbiased};
    if (in.sum == nullptr) {
      launch(compute_statistics<T, kWidth>, statistics_shape(), context_.stream(), args);
    } else {
      const auto blocks = static_cast<unsigned>(ceil_div(spec_.x.c, kThreads));
      launch(finish_statistics<T>, {{blocks, 1, 1}, {kThreads, 1, 1}}, context_.stream(), args, in.sum, in.square_sum);
    }
    if (out.y != nullptr) forward_again(in, out);
  }

  void forward_again(const BatchNormInputs& in, const BatchNormOutputs& out) override {
    NormaliseArgs<T> results{};
    results.x = static_cast<const T*>(in.x);
    results.residual = static_cast<const T*>(in.residual);
    results.gamma = in.gamma;
    results.beta = in.beta;
    results.mean = out.mean;
    results.inv_std = out.inv_std;
    results.y = static_cast<T*>(out.y);
    launch_normalise(results);
  }

  void infer(const BatchNormInference& args) override {
    NormaliseArgs<T> results{};
    results.x = static_cast<const T*>(args.x);
    results.residual = static_cast<const T*>(args.residual);
    results.gamma = args.gamma;
    results.beta = args.beta;
    results.mean = args.running_mean;
    results.variance = args.running_var;
    results.epsilon = spec_.epsilon;
    results.y = static_cast<T*>(args.y);
    launch_normalise(results);
  }

  void backward(const BatchNormGradInputs& in, const BatchNormGradOutputs& out) override {
    assert(!in.summed || (spec_.relu && !spec_.residual));
    if (in.summed) {
      const auto blocks = static_cast<unsigned>(ceil_div(spec_.x.c, kThreads));
      launch(copy_statistics, {{blocks, 1, 1}, {kThreads, 1, 1}}, context_.stream(),
             StatisticsCopyArgs{in.mean, in.var_unbiased, out.mean, out.var_unbiased, static_cast<int>(spec_.x.c)});
      launch(compute_input_gradients<T, kWidth, false>, results_shape(kInputRows), context_.stream(),
             input_gradient_args(in, out));
    } else if (!spec_.relu) {
      launch_backward<Mask::kNone>(in, out);
    } else if (spec_.residual) {
      launch_backward<Mask::kFromY>(in, out);
    } else {
      launch_backward<Mask::kFromX>(in, out);
    }
  }

  void infer_backward(const BatchNormInferenceGrad& args) override {
    InferenceGradientArgs<T> results{};
    results.dy = static_cast<const T*>(args.dy);
    results.y = static_cast<const T*>(args.y);
    results.gamma = args.gamma;
    results.variance = args.running_var;
    results.epsilon = spec_.epsilon;
    results.dresidual = spec_.residual ? static_cast<T*>(args.dresidual) : nullptr;
    results.dx = static_cast<T*>(args.dx);
    results.rows = grid_.rows;
    results.slabs_per_block = slabs_per_result_block(kInputRows);
    const auto kernel =
        spec_.relu ? compute_inference_gradients<T, kWidth, true> : compute_inference_gradients<T, kWidth, false>;
    launch(kernel, results_shape(kInputRows), context_.stream(), results);
  }

 private:
  LaunchShape statistics_shape() const { return grid_.shape_of(kSumRows, kSumBlocks); }
  LaunchShape gradients_shape() const { return grid_.shape_of(kGradientRows, kGradientBlocks); }

  int slabs_per_result_block(int rows_at_once) const {
    const std::int64_t slabs = grid_.slabs(rows_at_once), most = kMaxResultRows / rows_at_once;
    const std::int64_t wanted = std::clamp<std::int64_t>(slabs * grid_.tiles / kResultBlocks, 1, most);
    return static_cast<int>(std::max(wanted, ceil_div(slabs, kMaxGridHeight)));
  }

  LaunchShape results_shape(int rows_at_once) const {
    return grid_.shape_with(ceil_div(grid_.slabs(rows_at_once), slabs_per_result_block(rows_at_once)));
  }

  void launch_normalise(NormaliseArgs<T> args) const {
    args.rows = grid_.rows;
    args.slabs_per_block = slabs_per_result_block(kNormaliseRows);
    const auto kernel = spec_.relu
                            ? (spec_.residual ? normalise<T, kWidth, true, true> : normalise<T, kWidth, true, false>)
                        : spec_.residual ? normalise<T, kWidth, false, true>
                                         : normalise<T, kWidth, false, false>;
    launch(kernel, results_shape(kNormaliseRows), context_.stream(), args);
  }

  template <Mask kMask>
  void launch_backward(const BatchNormGradInputs& in, const BatchNormGradOutputs& out) const {
    launch(sum_gradients<T, kWidth, kMask>, gradients_shape(), context_.stream(), gradient_args(in, out));
    launch(compute_input_gradients<T, kWidth, kMask == Mask::kFromX>, results_shape(kInputRows), context_.stream(),
           input_gradient_args(in, out));
  }

  GradientArgs<T> gradient_args(const BatchNormGradInputs& in, const BatchNormGradOutputs& out) const {
    const bool dresidual_is_dy = out.dresidual == in.dy, written = spec_.residual && (spec_.relu || !dresidual_is_dy);
    return {.dy = static_cast<const T*>(in.dy),
            .x = static_cast<const T*>(in.x),
            .y = static_cast<const T*>(in.y),
            .dresidual = written ? static_cast<T*>(out.dresidual) : nullptr,
            .gamma = in.gamma,
            .beta = in.beta,
            .mean = in.mean,
            .inv_std = in.inv_std,
            .var_unbiased = in.var_unbiased,
            .rows = grid_.rows,
            .partials = partials(),
            .counters = counters(),
            .dgamma = out.dgamma,
            .dbeta = out.dbeta,
            .mean_copy = out.mean,
            .var_copy = out.var_unbiased};
  }

  /// With a residual, g has been masked by the pass of sums.
  InputGradientArgs<T> input_gradient_args(const BatchNormGradInputs& in, const BatchNormGradOutputs& out) const {
    return {.g = static_cast<const T*>(spec_.residual ? out.dresidual : in.dy),
            .x = static_cast<const T*>(in.x),
            .gamma = in.gamma,
            .beta = in.beta,
            .mean = in.mean,
            .inv_std = in.inv_std,
            .dgamma = out.dgamma,
            .dbeta = out.dbeta,
            .dx = static_cast<T*>(out.dx),
            .rows = grid_.rows,
            .slabs_per_block = slabs_per_result_block(kInputRows)};
  }

  FloatPair* partials() const { return reinterpret_cast<FloatPair*>(context_.scratch()); }
  unsigned* counters() const { return reinterpret_cast<unsigned*>(counters_.data()); }

  BatchNormSpec spec_;
  RowGrid grid_;
  Context& context_;
  Buffer counters_;
};

}  // namespace

std::unique_ptr<BatchNormOp> make_batch_norm(const BatchNormSpec& spec, Context& context) {
  std::unique_ptr<BatchNormOp> op;
  with_type(spec.type, [&]<typename T>(T*) {
    with_width<T>(spec.x.c,
                  [&]<int kWidth>(Width<kWidth>) { op = std::make_unique<CudaBatchNorm<T, kWidth>>(spec, context); });
  });
  return op;
}

}  // namespace convoy::ops::cuda
