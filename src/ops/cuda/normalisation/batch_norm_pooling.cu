/// Batch normalisation, ReLU and max pooling on a GPU: batch norm's passes, in which a window's values are normalised
/// when they are compared, and gradients are gathered when they are summed or used.
#include <algorithm>
#include <memory>

#include "ops/cuda/image_extents.h"
#include "ops/cuda/normalisation/batch_norm_backward.h"
#include "ops/cuda/normalisation/batch_norm_forward.h"
#include "ops/cuda/normalisation/batch_norm_pooling.h"
#include "ops/cuda/normalisation/batch_norm_rows.h"
#include "ops/cuda/pooling/pooling_windows.h"
#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

namespace {

/// Grid: a thread for every kWidth values of y. Block: kPixelThreads. Shared: none. Reads x (overlaps from the caches),
/// writes y and winner, once each. kKernel: as in Maximum.
template <typename T, int kWidth, int kKernel>
__global__ void __launch_bounds__(kPixelThreads, 3) normalise_and_pool(NormaliseArgs args, PoolingGeometry g) {
  for_my_pixels<kWidth>(g.y, [&](int image, int row, int column, int c) {
    const BatchNormForward::Branch& branch = args.of.branches[0];
    ChannelAffines<kWidth> affines;
    affines.load_from(branch, args.trains, args.epsilon, c);
    Maximum<kWidth> max;
    max.template find_in<kKernel>(g, row, column, [&](int h, int w, float(&v)[kWidth]) {
      load<kWidth>(static_cast<const T*>(branch.x) + g.x.at(image, h, w) + c, v);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) v[i] = as_stored<T>(relu(affines.normalise(v[i], i)));
    });
    const std::int64_t to = g.y.at(image, row, column) + c;
    store<kWidth>(max.value, static_cast<T*>(args.of.y) + to);
#pragma unroll
    for (int i = 0; i < kWidth; ++i)
      if (!(max.value[i] > 0)) max.position[i] = BatchNormOp::kNoWinner;
    store_bytes(max.position, args.of.winner + to);
  });
}

/// The gradient of the pooling's input, which is not stored in memory. A pixel's index is an int: a GPU's memory holds
/// fewer than 2^31 pixels of 64 channels.
template <typename T>
struct WonGradients {
  static constexpr bool kAreGathered = true;

  PoolingGeometry geometry;
  const void* dy;
  const std::uint8_t* winner;

  template <int kWidth>
  __device__ void load_row(std::int64_t row, int channel, float (&to)[kWidth]) const {
    const int pixel = static_cast<int>(row), w = geometry.x.w, h = geometry.x.h;
    const int image_row = pixel / w, image = image_row / h;
    sum_won_gradients<2>(geometry, image, image_row - image * h, pixel - image_row * w, channel,
                         static_cast<const T*>(dy), winner, to);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) to[i] = as_stored<T>(to[i]);
  }
};

template <typename T>
class CudaBatchNormMaxPool final : public BatchNormOp {
 public:
  CudaBatchNormMaxPool(const BatchNormSpec& spec, Context& context)
      : epsilon_(spec.epsilon),
        grid_(spec.x, kWidth, static_cast<int>(sizeof(T))),
        geometry_(*spec.pooling),
        context_(context),
        counters_(context.device(), grid_.tiles * static_cast<std::int64_t>(sizeof(unsigned))) {
    const std::int64_t blocks = std::max(statistics_shape().grid.y, gradients_shape().grid.y);
    context_.reserve_scratch(blocks * spec.x.c * static_cast<std::int64_t>(sizeof(FloatSums<2>)));
  }

  void forward(const BatchNormForward& args) override {
    const StatisticsArgs of_branch{args.branches[0], epsilon_, grid_.rows, partials(), counters()};
    launch(compute_statistics<T, kWidth>, statistics_shape(), context_.stream(), of_branch);
    forward_again(args);
  }

  void forward_again(const BatchNormForward& args) override { launch_pooling({.of = args, .trains = true}); }

  void infer(const BatchNormForward& args) override { launch_pooling({.of = args, .epsilon = epsilon_}); }

  void backward(const BatchNormBackward& of) override {
    const GradientArgs<1> args{
        of, grid_.rows, partials(), counters(), grid_.slabs_per_result_block(kInputRows), /*g=*/nullptr};
    const WonGradients<T> dy{geometry_, of.dy, of.winner};
    launch(sum_gradients<T, kWidth, kWidth, 1, Mask::kNone, WonGradients<T>>, gradients_shape(), context_.stream(),
           args, dy);
    launch(compute_input_gradients<T, kWidth, kWidth, 1, Mask::kNone, WonGradients<T>>, grid_.results_shape(kInputRows),
           context_.stream(), args, dy);
  }

  void infer_backward(const BatchNormBackward& of) override {
    InferenceGradientArgs args{of, epsilon_, grid_.rows, grid_.slabs_per_result_block(kInputRows)};
    args.of.dresidual = nullptr;
    launch(compute_inference_gradients<T, kWidth, 1, false, WonGradients<T>>, grid_.results_shape(kInputRows),
           context_.stream(), args, WonGradients<T>{geometry_, of.dy, of.winner});
  }

 private:
  static constexpr int kWidth = kWidest<T>;
  static_assert(BatchNormSpec::kChannelGroup % kWidth == 0);

  LaunchShape statistics_shape() const { return grid_.shape_of(kSumRows, kSumBlocks); }
  LaunchShape gradients_shape() const { return grid_.shape_of(kGradientRows, kGradientBlocks); }

  void launch_pooling(const NormaliseArgs& args) const {
    const auto kernel = geometry_.kernel == 3 ? normalise_and_pool<T, kWidth, 3> : normalise_and_pool<T, kWidth, 0>;
    launch(kernel, shape_over<kWidth>(geometry_.y), context_.stream(), args, geometry_);
  }

  FloatSums<2>* partials() const { return reinterpret_cast<FloatSums<2>*>(context_.scratch()); }
  unsigned* counters() const { return reinterpret_cast<unsigned*>(counters_.data()); }

  float epsilon_;
  RowGrid grid_;
  PoolingGeometry geometry_;
  Context& context_;
  Buffer counters_;
};

}  // namespace

std::unique_ptr<BatchNormOp> make_batch_norm_pooling(const BatchNormSpec& spec, Context& context) {
  std::unique_ptr<BatchNormOp> op;
  with_type(spec.type, [&]<typename T>(T*) { op = std::make_unique<CudaBatchNormMaxPool<T>>(spec, context); });
  return op;
}

}  // namespace convoy::ops::cuda
