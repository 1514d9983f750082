/// Pooling on a GPU: a thread computes kWidth neighbouring channels of one pixel, 16 bytes if C allows that. Backward
/// gathers, so no two threads write the same value and nothing depends on an order.
#include <memory>

#include "convoy/ops/pooling.h"

#include "ops/average_axis.h"
#include "ops/cuda/image_extents.h"
#include "ops/cuda/pooling/pooling_windows.h"
#include "ops/cuda/resources.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

// --- Maximum --------------------------------------------------------------------------------------------------------

/// Grid: a thread for every kWidth values of y. Block: kPixelThreads. Reads x (overlaps from the caches), writes y and
/// winner, once each. kKernel: the window's size, or 0 for any: with it all loads of a thread are in flight at once.
template <typename T, int kWidth, int kKernel>
__global__ void __launch_bounds__(kPixelThreads)
    max_forward(PoolingGeometry g, const T* x, T* y, std::uint8_t* winner) {
  for_my_pixels<kWidth>(g.y, [&](int image, int row, int column, int c) {
    Maximum<kWidth> max;
    max.template find_in<kKernel>(
        g, row, column, [&](int h, int w, float(&v)[kWidth]) { load<kWidth>(x + g.x.at(image, h, w) + c, v); });
    const std::int64_t to = g.y.at(image, row, column) + c;
    store<kWidth>(max.value, y + to);
    store_bytes(max.position, winner + to);
  });
}

/// Grid: a thread for every kWidth values of dx. Block: kPixelThreads. Reads dy and winner (overlaps from the caches),
/// writes dx, once each; float32 sums. kWindows: the most windows over a pixel along an axis, or 0 for any.
template <typename T, int kWidth, int kWindows>
__global__ void __launch_bounds__(kPixelThreads)
    max_backward(PoolingGeometry g, const T* dy, const std::uint8_t* winner, T* dx) {
  for_my_pixels<kWidth>(g.x, [&](int image, int row, int column, int c) {
    float sum[kWidth];
    sum_won_gradients<kWindows>(g, image, row, column, c, dy, winner, sum);
    store<kWidth>(sum, dx + g.x.at(image, row, column) + c);
  });
}

template <typename T, int kWidth>
class CudaMaxPool final : public MaxPoolOp {
 public:
  CudaMaxPool(const PoolingSpec& spec, const Context& context) : geometry_(spec), context_(context) {}

  void forward(const void* x, void* y, std::uint8_t* winner) override {
    const auto kernel = geometry_.kernel == 3 ? max_forward<T, kWidth, 3> : max_forward<T, kWidth, 0>;
    launch(kernel, shape_over<kWidth>(geometry_.y), context_.stream(), geometry_, x, y, winner);
  }

  void backward(const void* dy, const std::uint8_t* winner, void* dx) override {
    const auto kernel = geometry_.has_at_most_two_windows() ? max_backward<T, kWidth, 2> : max_backward<T, kWidth, 0>;
    launch(kernel, shape_over<kWidth>(geometry_.x), context_.stream(), geometry_, dy, winner, dx);
  }

 private:
  PoolingGeometry geometry_;
  const Context& context_;
};

// --- Average --------------------------------------------------------------------------------------------------------

template <bool kAdaptive>
struct AverageGeometry {
  using Axis = AverageAxis<int, kAdaptive>;

  explicit AverageGeometry(const PoolingSpec& spec)
      : x(spec.x), y(spec.y()), rows(Axis::rows(spec)), columns(Axis::columns(spec)) {}

  ImageExtents x, y;
  Axis rows, columns;

  /// Returns the weight of each pixel in the average over window (p, q): 1 / number of pixels that the mean counts.
  __device__ float share_of_pixel(int p, int q) const { return share_of_pixel_in_row(rows.counted(p), q); }
  /// The same, for a window with `counted` rows that the mean counts.
  __device__ float share_of_pixel_in_row(int counted, int q) const {
    return __fdiv_rn(1.0f, static_cast<float>(counted * columns.counted(q)));
  }
};

/// Grid: a thread for every kWidth values of y. Block: kPixelThreads. Reads x (overlaps from the caches), writes y,
/// once each; float32 sums.
template <bool kAdaptive, typename T, int kWidth>
__global__ void __launch_bounds__(kPixelThreads) average_forward(AverageGeometry<kAdaptive> g, const T* x, T* y) {
  for_my_pixels<kWidth>(g.y, [&](int image, int row, int column, int c) {
    const auto rows = g.rows.window(row), columns = g.columns.window(column);
    const float share = g.share_of_pixel(row, column);
    float sum[kWidth] = {};
    for (int h = rows.begin; h < rows.end; ++h) {
#pragma unroll 2
      for (int w = columns.begin; w < columns.end; ++w) {
        float v[kWidth];
        load<kWidth>(x + g.x.at(image, h, w) + c, v);
#pragma unroll
        for (int i = 0; i < kWidth; ++i) sum[i] += v[i];
      }
    }
#pragma unroll
    for (int i = 0; i < kWidth; ++i) sum[i] *= share;
    store<kWidth>(sum, y + g.y.at(image, row, column) + c);
  });
}

/// Grid: a thread for every kWidth values of dx. Block: kPixelThreads. Reads dy (overlaps from the caches), writes dx,
/// once each; float32 sums.
template <bool kAdaptive, typename T, int kWidth>
__global__ void __launch_bounds__(kPixelThreads) average_backward(AverageGeometry<kAdaptive> g, const T* dy, T* dx) {
  for_my_pixels<kWidth>(g.x, [&](int image, int row, int column, int c) {
    const auto rows = g.rows.windows_over(row), columns = g.columns.windows_over(column);
    float sum[kWidth] = {};
    for (int p = rows.begin; p < rows.end; ++p) {
      const int counted = g.rows.counted(p);
#pragma unroll 1
      for (int q = columns.begin; q < columns.end; ++q) {
        const float share = g.share_of_pixel_in_row(counted, q);
        float v[kWidth];
        load<kWidth>(dy + g.y.at(image, p, q) + c, v);
#pragma unroll
        for (int i = 0; i < kWidth; ++i) sum[i] = __fmaf_rn(v[i], share, sum[i]);
      }
    }
    store<kWidth>(sum, dx + g.x.at(image, row, column) + c);
  });
}

template <bool kAdaptive, typename T, int kWidth>
class CudaAveragePool final : public AveragePoolOp {
 public:
  CudaAveragePool(const PoolingSpec& spec, const Context& context) : geometry_(spec), context_(context) {}

  void forward(const void* x, void* y) override {
    launch(average_forward<kAdaptive, T, kWidth>, shape_over<kWidth>(geometry_.y), context_.stream(), geometry_, x, y);
  }

  void backward(const void* dy, void* dx) override {
    launch(average_backward<kAdaptive, T, kWidth>, shape_over<kWidth>(geometry_.x), context_.stream(), geometry_, dy,
           dx);
  }

 private:
  AverageGeometry<kAdaptive> geometry_;
  const Context& context_;
};

template <typename T, int kWidth>
using CudaSlidingAverage = CudaAveragePool<false, T, kWidth>;
template <typename T, int kWidth>
using CudaAdaptiveAverage = CudaAveragePool<true, T, kWidth>;

// --- Average over the whole image -----------------------------------------------------------------------------------

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
__global__ void __launch_bounds__(kAverageThreads) average_images(ImageExtents x_extents, const T* x, T* y) {
  const int channel = static_cast<int>(blockIdx.x * kAverageThreads + threadIdx.x) * kWidth;
  if (channel >= x_extents.c) return;
  const int pixels = x_extents.h * x_extents.w, channels = x_extents.c;
  for (int image = static_cast<int>(blockIdx.y); image < x_extents.n; image += static_cast<int>(gridDim.y)) {
    const T* from = x + x_extents.at(image, 0, 0) + channel;
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
__global__ void __launch_bounds__(kPixelThreads) spread_gradient(ImageExtents x, const T* dy, T* dx) {
  for_my_pixels<kWidth>(x, [&](int image, int row, int column, int channel) {
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
  CudaGlobalAveragePool(const GlobalPoolingSpec& spec, const Context& context) : x_(spec.x), context_(context) {}

  void forward(const void* x, void* y) override {
    launch(average_images<T, kWidth>, shape_over_images(x_.n, x_.c / kWidth, kAverageThreads), context_.stream(), x_, x,
           y);
  }

  void backward(const void* dy, void* dx) override {
    launch(spread_gradient<T, kWidth>, shape_over<kWidth>(x_), context_.stream(), x_, dy, dx);
  }

 private:
  ImageExtents x_;
  const Context& context_;
};

}  // namespace

template <>
std::unique_ptr<MaxPoolOp> make_op(const PoolingSpec& spec, const Resources& resources) {
  return make_wide<CudaMaxPool, MaxPoolOp>(spec.x.c, spec, resources.context);
}

template <>
std::unique_ptr<AveragePoolOp> make_op(const PoolingSpec& spec, const Resources& resources) {
  if (spec.is_adaptive()) return make_wide<CudaAdaptiveAverage, AveragePoolOp>(spec.x.c, spec, resources.context);
  return make_wide<CudaSlidingAverage, AveragePoolOp>(spec.x.c, spec, resources.context);
}

template <>
std::unique_ptr<GlobalAveragePoolOp> make_op(const GlobalPoolingSpec& spec, const Resources& resources) {
  return make_wide<CudaGlobalAveragePool, GlobalAveragePoolOp>(spec.x.c, spec, resources.context);
}

}  // namespace convoy::ops::cuda
