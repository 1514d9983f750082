/// Pooling on a GPU: a thread makes kWidth neighbouring channels of one pixel, 16 bytes where C allows. Backward
/// gathers, so no two threads write one value and nothing depends on an order.
#include <limits>
#include <memory>

#include "convoy/ops/pooling.h"

#include "ops/cuda/operations.h"
#include "ops/cuda/places.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The pixels of a window along one axis that lie inside the image: begin, ..., end - 1, from `start`, which may not;
/// or windows.
struct Span {
  int start, begin, end;
};

struct Geometry {
  explicit Geometry(const PoolingSpec& spec)
      : x(spec.x),
        y(spec.y()),
        kernel(static_cast<int>(spec.kernel)),
        stride(static_cast<int>(spec.stride)),
        padding(static_cast<int>(spec.padding)) {}

  Places x, y;
  int kernel, stride, padding;

  __device__ Span window(int index, int size) const {
    const int start = index * stride - padding;
    return {start, max(start, 0), min(start + kernel, size)};
  }

  /// The windows that cover pixel `index` along an axis with `count` windows:
  /// p * stride - padding <= index < p * stride - padding + kernel.
  __device__ Span windows_over(int index, int count) const {
    const int first = max(index + padding - kernel + stride, 0) / stride;
    return {first, first, min((index + padding) / stride + 1, count)};
  }

  /// Of the average over a window.
  __device__ float share_of_pixel(int row, int column) const {
    const Span rows = window(row, x.h), columns = window(column, x.w);
    return __fdiv_rn(1.0f, static_cast<float>((rows.end - rows.begin) * (columns.end - columns.begin)));
  }
};

// --- Maximum --------------------------------------------------------------------------------------------------------

/// Grid: a thread for every kWidth values of y. Block: kPlaceThreads. Reads x (overlaps from the caches), writes y and
/// winner, once each. kKernel: the window's size, or 0 for any: with it all loads of a thread are in flight at once.
template <typename T, int kWidth, int kKernel>
__global__ void __launch_bounds__(kPlaceThreads) max_forward(Geometry g, const T* x, T* y, std::uint8_t* winner) {
  for_my_places<kWidth>(g.y, [&](int image, int row, int column, int c) {
    const int kernel = kKernel > 0 ? kKernel : g.kernel;
    const Span rows = g.window(row, g.x.h), columns = g.window(column, g.x.w);
    float best[kWidth];
    int place[kWidth];
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      best[i] = -kInfinity;
      place[i] = (rows.begin - rows.start) * kernel + columns.begin - columns.start;
    }
#pragma unroll(kKernel > 0 ? kKernel : 1)
    for (int r = 0; r < kernel; ++r) {
#pragma unroll(kKernel > 0 ? kKernel : 1)
      for (int s = 0; s < kernel; ++s) {
        const int h = rows.start + r, w = columns.start + s;
        if (h < 0 || h >= g.x.h || w < 0 || w >= g.x.w) continue;
        float v[kWidth];
        load<kWidth>(x + g.x.at(image, h, w) + c, v);
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          const bool wins = v[i] > best[i] || v[i] != v[i];  // NaN wins, and is never beaten
          best[i] = wins ? v[i] : best[i];
          place[i] = wins ? r * kernel + s : place[i];
        }
      }
    }
    const std::int64_t to = g.y.at(image, row, column) + c;
    store<kWidth>(best, y + to);
    Pack<std::uint8_t, kWidth> places;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) places.values[i] = static_cast<std::uint8_t>(place[i]);
    *reinterpret_cast<Pack<std::uint8_t, kWidth>*>(winner + to) = places;
  });
}

/// Grid: a thread for every kWidth values of dx. Block: kPlaceThreads. Reads dy and winner (overlaps from the caches),
/// writes dx, once each; float32 sums. kWindows: the most windows over a pixel along an axis, or 0 for any.
template <typename T, int kWidth, int kWindows>
__global__ void __launch_bounds__(kPlaceThreads)
    max_backward(Geometry g, const T* dy, const std::uint8_t* winner, T* dx) {
  for_my_places<kWidth>(g.x, [&](int image, int row, int column, int c) {
    const Span rows = g.windows_over(row, g.y.h), columns = g.windows_over(column, g.y.w);
    const int num_rows = kWindows > 0 ? kWindows : rows.end - rows.begin;
    const int num_columns = kWindows > 0 ? kWindows : columns.end - columns.begin;
    float sum[kWidth] = {};
#pragma unroll(kWindows > 0 ? kWindows : 1)
    for (int i = 0; i < num_rows; ++i) {
#pragma unroll(kWindows > 0 ? kWindows : 1)
      for (int j = 0; j < num_columns; ++j) {
        const int p = rows.begin + i, q = columns.begin + j;
        if (p >= rows.end || q >= columns.end) continue;
        const std::int64_t from = g.y.at(image, p, q) + c;
        const int place = (row - (p * g.stride - g.padding)) * g.kernel + column - (q * g.stride - g.padding);
        const auto places = *reinterpret_cast<const Pack<std::uint8_t, kWidth>*>(winner + from);
        float v[kWidth];
        load<kWidth>(dy + from, v);
#pragma unroll
        for (int k = 0; k < kWidth; ++k) sum[k] += places.values[k] == place ? v[k] : 0.0f;
      }
    }
    store<kWidth>(sum, dx + g.x.at(image, row, column) + c);
  });
}

template <typename T, int kWidth>
class CudaMaxPool final : public MaxPoolOp {
 public:
  CudaMaxPool(const PoolingSpec& spec, const Context& context) : geometry_(spec), context_(context) {}

  void forward(const void* x, void* y, std::uint8_t* winner) override {
    const auto kernel = geometry_.kernel == 3 ? max_forward<T, kWidth, 3> : max_forward<T, kWidth, 0>;
    launch(kernel, shape_over<kWidth>(geometry_.y), context_.stream(), geometry_, static_cast<const T*>(x),
           static_cast<T*>(y), winner);
  }

  void backward(const void* dy, const std::uint8_t* winner, void* dx) override {
    const bool at_most_two = geometry_.kernel <= 2 * geometry_.stride;
    const auto kernel = at_most_two ? max_backward<T, kWidth, 2> : max_backward<T, kWidth, 0>;
    launch(kernel, shape_over<kWidth>(geometry_.x), context_.stream(), geometry_, static_cast<const T*>(dy), winner,
           static_cast<T*>(dx));
  }

 private:
  Geometry geometry_;
  const Context& context_;
};

// --- Average --------------------------------------------------------------------------------------------------------

/// Grid: a thread for every kWidth values of y. Block: kPlaceThreads. Reads x (overlaps from the caches), writes y,
/// once each; float32 sums.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kPlaceThreads) average_forward(Geometry g, const T* x, T* y) {
  for_my_places<kWidth>(g.y, [&](int image, int row, int column, int c) {
    const Span rows = g.window(row, g.x.h), columns = g.window(column, g.x.w);
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
    const float share = g.share_of_pixel(row, column);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) sum[i] *= share;
    store<kWidth>(sum, y + g.y.at(image, row, column) + c);
  });
}

/// Grid: a thread for every kWidth values of dx. Block: kPlaceThreads. Reads dy (overlaps from the caches), writes dx,
/// once each; float32 sums.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kPlaceThreads) average_backward(Geometry g, const T* dy, T* dx) {
  for_my_places<kWidth>(g.x, [&](int image, int row, int column, int c) {
    const Span rows = g.windows_over(row, g.y.h), columns = g.windows_over(column, g.y.w);
    float sum[kWidth] = {};
    for (int p = rows.begin; p < rows.end; ++p) {
      for (int q = columns.begin; q < columns.end; ++q) {
        const float share = g.share_of_pixel(p, q);
        float v[kWidth];
        load<kWidth>(dy + g.y.at(image, p, q) + c, v);
#pragma unroll
        for (int i = 0; i < kWidth; ++i) sum[i] = __fmaf_rn(v[i], share, sum[i]);
      }
    }
    store<kWidth>(sum, dx + g.x.at(image, row, column) + c);
  });
}

template <typename T, int kWidth>
class CudaAveragePool final : public AveragePoolOp {
 public:
  CudaAveragePool(const PoolingSpec& spec, const Context& context) : geometry_(spec), context_(context) {}

  void forward(const void* x, void* y) override {
    launch(average_forward<T, kWidth>, shape_over<kWidth>(geometry_.y), context_.stream(), geometry_,
           static_cast<const T*>(x), static_cast<T*>(y));
  }

  void backward(const void* dy, void* dx) override {
    launch(average_backward<T, kWidth>, shape_over<kWidth>(geometry_.x), context_.stream(), geometry_,
           static_cast<const T*>(dy), static_cast<T*>(dx));
  }

 private:
  Geometry geometry_;
  const Context& context_;
};

}  // namespace

std::unique_ptr<MaxPoolOp> make_max_pool(const PoolingSpec& spec, Context& context) {
  std::unique_ptr<MaxPoolOp> op;
  with_type(spec.type, [&]<typename T>(T*) {
    with_width<T>(spec.x.c,
                  [&]<int kWidth>(Width<kWidth>) { op = std::make_unique<CudaMaxPool<T, kWidth>>(spec, context); });
  });
  return op;
}

std::unique_ptr<AveragePoolOp> make_average_pool(const PoolingSpec& spec, Context& context) {
  std::unique_ptr<AveragePoolOp> op;
  with_type(spec.type, [&]<typename T>(T*) {
    with_width<T>(spec.x.c,
                  [&]<int kWidth>(Width<kWidth>) { op = std::make_unique<CudaAveragePool<T, kWidth>>(spec, context); });
  });
  return op;
}

}  // namespace convoy::ops::cuda
