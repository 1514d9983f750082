/// Batch normalisation on a GPU: a pass of sums for each branch, then a pass of results, which reads only once what the
/// branches have in common. All passes are bound by memory.
#include <algorithm>
#include <memory>

#include "convoy/ops/batch_norm.h"

#include "ops/cuda/normalisation/batch_norm_backward.h"
#include "ops/cuda/normalisation/batch_norm_forward.h"
#include "ops/cuda/normalisation/batch_norm_pooling.h"
#include "ops/cuda/normalisation/batch_norm_rows.h"
#include "ops/cuda/resources.h"
#include "ops/cuda/widths.h"
#include "ops/masked_gradient.h"

namespace convoy::ops::cuda {

namespace {

template <typename T, int kWidth, int kBranches>
class CudaBatchNorm final : public BatchNormOp {
 public:
  CudaBatchNorm(const BatchNormSpec& spec, Context& context)
      : spec_(spec),
        grid_(spec.x, kWidth, static_cast<int>(sizeof(T))),
        backward_grid_(spec.x, kBackwardWidth, static_cast<int>(sizeof(T))),
        context_(context),
        counters_(context.device(),
                  std::max(grid_.tiles, backward_grid_.tiles) * static_cast<std::int64_t>(sizeof(unsigned))) {
    const std::int64_t blocks = std::max(statistics_shape().grid.y, gradients_shape().grid.y);
    context_.reserve_scratch(blocks * spec.x.c * static_cast<std::int64_t>(sizeof(FloatSums<1 + kBranches>)));
  }

  void forward(const BatchNormForward& args) override {
    for (int b = 0; b < kBranches; ++b) {
      const StatisticsArgs of_branch{args.branches[b], spec_.epsilon, grid_.rows, partials<2>(), counters()};
      launch(compute_statistics<T, kWidth>, statistics_shape(), context_.stream(), of_branch);
    }
    if (spec_.stores_mask())
      launch_normalise(normalise<T, kWidth, kBranches, true, kBranches == 1, true>, args, /*trains=*/true);
    else
      normalise_by(args, /*trains=*/true);
  }

  void forward_again(const BatchNormForward& args) override { normalise_by(args, /*trains=*/true); }

  void infer(const BatchNormForward& args) override { normalise_by(args, /*trains=*/false); }

  void backward(const BatchNormBackward& args) override {
    if constexpr (kBranches > 1) {
      launch_backward<Mask::kFromForward, Mask::kFromForward>(args);
    } else if (!spec_.relu) {
      launch_backward<Mask::kNone, Mask::kNone>(args);
    } else if (spec_.residual) {
      launch_backward<Mask::kFromForward, Mask::kNone>(args);
    } else {
      launch_backward<Mask::kFromX, Mask::kFromX>(args);
    }
  }

  void infer_backward(const BatchNormBackward& of) override {
    InferenceGradientArgs args{of, spec_.epsilon, grid_.rows, grid_.slabs_per_result_block(kInputRows)};
    if (!spec_.residual) args.of.dresidual = nullptr;
    with_gradients<T>(of.dy, of.dy_addend, grid_.rows, [&]<typename Gradients>(Gradients dy) {
      auto* kernel = compute_inference_gradients<T, kWidth, kBranches, true, Gradients>;
      if constexpr (kBranches == 1) {
        if (!spec_.relu) kernel = compute_inference_gradients<T, kWidth, kBranches, false, Gradients>;
      }
      launch(kernel, grid_.results_shape(kInputRows), context_.stream(), args, dy);
    });
  }

 private:
  /// Backward of two branches keeps the numbers of both for each channel: with accesses of at most 4 values they fit
  /// into registers.
  static constexpr int kBackwardWidth = kBranches > 1 ? std::min(kWidth, 4) : kWidth;
  static constexpr int kRowsAtOnce = kNormaliseRows<kWidth, kBranches>;

  LaunchShape statistics_shape() const { return grid_.shape_of(kSumRows, kSumBlocks); }
  LaunchShape gradients_shape() const { return backward_grid_.shape_of(kGradientRows, kGradientBlocks); }

  void launch_normalise(void (*kernel)(NormaliseArgs), const BatchNormForward& args, bool trains) const {
    launch(kernel, grid_.results_shape(kRowsAtOnce), context_.stream(),
           NormaliseArgs{args, trains, spec_.epsilon, grid_.rows, grid_.slabs_per_result_block(kRowsAtOnce)});
  }

  void normalise_by(const BatchNormForward& args, bool trains) const {
    auto* kernel = normalise<T, kWidth, kBranches, true, false>;
    if constexpr (kBranches == 1) {
      if (spec_.relu && spec_.residual) kernel = normalise<T, kWidth, kBranches, true, true>;
      if (!spec_.relu)
        kernel = spec_.residual ? normalise<T, kWidth, kBranches, false, true>
                                : normalise<T, kWidth, kBranches, false, false>;
    }
    launch_normalise(kernel, args, trains);
  }

  /// kMask is the mask of the pass of sums. kMaskOfResults is that of the pass that writes dx: kNone if the first pass
  /// has written g.
  template <Mask kMask, Mask kMaskOfResults>
  void launch_backward(const BatchNormBackward& of) const {
    const RowGrid& grid = backward_grid_;
    const GradientArgs<kBranches> args{of,
                                       grid.rows,
                                       partials<1 + kBranches>(),
                                       counters(),
                                       grid.slabs_per_result_block(kInputRows),
                                       masked_gradient(spec_, of)};
    with_gradients<T>(of.dy, of.dy_addend, grid.rows, [&]<typename Gradients>(Gradients dy) {
      launch(sum_gradients<T, kBackwardWidth, kWidth, kBranches, kMask, Gradients>, gradients_shape(),
             context_.stream(), args, dy);
    });
    const StoredGradients<T> g{args.g != nullptr ? args.g : of.dy, grid.rows.channels};
    launch(compute_input_gradients<T, kBackwardWidth, kWidth, kBranches, kMaskOfResults, StoredGradients<T>>,
           grid.results_shape(kInputRows), context_.stream(), args, g);
  }

  template <int kSums>
  FloatSums<kSums>* partials() const {
    return reinterpret_cast<FloatSums<kSums>*>(context_.scratch());
  }
  unsigned* counters() const { return reinterpret_cast<unsigned*>(counters_.data()); }

  BatchNormSpec spec_;
  RowGrid grid_, backward_grid_;
  Context& context_;
  Buffer counters_;
};

template <typename T, int kWidth>
using OfOneBranch = CudaBatchNorm<T, kWidth, 1>;
template <typename T, int kWidth>
using OfTwoBranches = CudaBatchNorm<T, kWidth, 2>;

}  // namespace

template <>
std::unique_ptr<BatchNormOp> make_op(const BatchNormSpec& spec, const Resources& resources) {
  if (spec.pooling) return make_batch_norm_pooling(spec, resources.context);
  return spec.num_branches == 1 ? make_wide<OfOneBranch, BatchNormOp>(spec.x.c, spec, resources.context)
                                : make_wide<OfTwoBranches, BatchNormOp>(spec.x.c, spec, resources.context);
}

}  // namespace convoy::ops::cuda
