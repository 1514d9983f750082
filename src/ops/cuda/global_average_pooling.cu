/// The average over the whole image on a GPU, and its gradient: bound by memory.
#include <algorithm>
#include <memory>

#include "convoy/ops/pooling.h"

#include "ops/cuda/operations.h"
#include "ops/cuda/places.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

constexpr int kAverageThreads = 64;  // few, so that N * C / kWidth threads spread over all multiprocessors
constexpr int kPixels = 7;           // that a thread reads at once: a row of the last stage of a ResNet

/// Adds kCount pixels in order.
template <int kCount, int kWidth, typename T>
__device__ void add_pixels(const T* from, int channels, float (&sum)[kWidth]) {
  float v[kCount][kWidth];
#pragma unroll
  for (int pixel = 0; pixel < kCount; ++pixel) load<kWidth>(from + std::int64_t{pixel} * channels, v[pixel]);
#pragma unroll
  for (int pixel = 0; pixel < kCount; ++pixel) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) sum[i] += v[pixel][i];
  }
}

/// Grid: a thread for every kWidth channels of an image, blockIdx.y the image. Block: kAverageThreads. Reads x once;
/// float32 sums from the first pixel to the last.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kAverageThreads) average_images(Places x_places, const T* x, T* y) {
  const int channel = static_cast<int>(blockIdx.x * kAverageThreads + threadIdx.x) * kWidth;
  if (channel >= x_places.c) return;
  const int pixels = x_places.h * x_places.w, channels = x_places.c;
  for (int image = static_cast<int>(blockIdx.y); image < x_places.n; image += static_cast<int>(gridDim.y)) {
    const T* from = x + x_places.at(image, 0, 0) + channel;
    float sum[kWidth] = {};
    int pixel = 0;
    for (; pixel + kPixels <= pixels; pixel += kPixels) {
      add_pixels<kPixels>(from + std::int64_t{pixel} * channels, channels, sum);
    }
    for (; pixel < pixels; ++pixel) add_pixels<1>(from + std::int64_t{pixel} * channels, channels, sum);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) sum[i] = __fdiv_rn(sum[i], static_cast<float>(pixels));
    store<kWidth>(sum, y + std::int64_t{image} * channels + channel);
  }
}

/// Grid: shape_over(dx). Writes dx once; dy comes from the caches.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kPlaceThreads) spread_gradient(Places x, const T* dy, T* dx) {
  for_my_places<kWidth>(x, [&](int image, int row, int column, int channel) {
    float v[kWidth];
    load<kWidth>(dy + std::int64_t{image} * x.c + channel, v);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) v[i] = __fdiv_rn(v[i], static_cast<float>(x.h * x.w));
    store<kWidth>(v, dx + x.at(image, row, column) + channel);
  });
}

template <typename T, int kWidth>
class CudaGlobalAveragePool final : public GlobalAveragePoolOp {
 public:
  CudaGlobalAveragePool(const Shape& x, const Context& context) : x_(x), context_(context) {}

  void forward(const void* x, void* y) override {
    const LaunchShape shape{{static_cast<unsigned>(ceil_div(x_.c / kWidth, kAverageThreads)),
                             static_cast<unsigned>(std::min(x_.n, kMaxGridHeight)), 1},
                            {kAverageThreads, 1, 1}};
    launch(average_images<T, kWidth>, shape, context_.stream(), x_, static_cast<const T*>(x), static_cast<T*>(y));
  }

  void backward(const void* dy, void* dx) override {
    launch(spread_gradient<T, kWidth>, shape_over<kWidth>(x_), context_.stream(), x_, static_cast<const T*>(dy),
           static_cast<T*>(dx));
  }

 private:
  Places x_;
  const Context& context_;
};

}  // namespace

std::unique_ptr<GlobalAveragePoolOp> make_global_average_pool(const GlobalPoolingSpec& spec, Context& context) {
  std::unique_ptr<GlobalAveragePoolOp> op;
  with_type(spec.type, [&]<typename T>(T*) {
    with_width<T>(spec.x.c, [&]<int kWidth>(Width<kWidth>) {
      op = std::make_unique<CudaGlobalAveragePool<T, kWidth>>(spec.x, context);
    });
  });
  return op;
}

}  // namespace convoy::ops::cuda
