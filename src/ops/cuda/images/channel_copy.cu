/// Copies of channels on a GPU, bound by memory.
#include <memory>
#include <numeric>

#include "convoy/ops/channel_copy.h"

#include "ops/cuda/image_extents.h"
#include "ops/cuda/resources.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

struct Geometry {
  explicit Geometry(const ChannelCopySpec& spec)
      : x(spec.x),
        y(spec.y()),
        run(Shape::images(spec.x.n, spec.y().h, spec.y().w, spec.count)),
        stride(static_cast<int>(spec.stride)),
        x_first(static_cast<int>(spec.x_first)),
        y_first(static_cast<int>(spec.y_first)) {}

  ImageExtents x, y;
  ImageExtents run;  ///< the values that are copied
  int stride, x_first, y_first;

  __device__ std::int64_t run_in_x(int image, int p, int q) const {
    return x.at(image, p * stride, q * stride) + x_first;
  }
  __device__ std::int64_t run_in_y(int image, int p, int q) const { return y.at(image, p, q) + y_first; }
};

/// Grid: shape_over(g.run). Reads the values of x that are copied, writes them to y.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kPixelThreads) copy_run(Geometry g, const T* x, T* y) {
  for_my_pixels<kWidth>(g.run, [&](int image, int p, int q, int channel) {
    float v[kWidth];
    load<kWidth>(x + g.run_in_x(image, p, q) + channel, v);
    store<kWidth>(v, y + g.run_in_y(image, p, q) + channel);
  });
}

/// Grid: shape_over(g.y). Reads the values of x that are copied, writes y.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kPixelThreads) copy_run_and_clear_rest(Geometry g, const T* x, T* y) {
  for_my_pixels<kWidth>(g.y, [&](int image, int p, int q, int channel) {
    const int from = channel - g.y_first;
    float v[kWidth] = {};
    if (from >= 0 && from < g.run.c) load<kWidth>(x + g.run_in_x(image, p, q) + from, v);
    store<kWidth>(v, y + g.y.at(image, p, q) + channel);
  });
}

/// Adds a pack of channels from memory to v.
template <int kWidth, typename T>
__device__ void add(const T* from, float (&v)[kWidth]) {
  float added[kWidth];
  load<kWidth>(from, added);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) v[i] += added[i];
}

/// Grid: shape_over(g.run). Reads the run of dy, reads and writes that of dx; one float32 addition per value.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kPixelThreads) add_gradient(Geometry g, const T* dy, T* dx) {
  for_my_pixels<kWidth>(g.run, [&](int image, int p, int q, int channel) {
    T* const to = dx + g.run_in_x(image, p, q) + channel;
    float v[kWidth];
    load<kWidth>(to, v);
    add(dy + g.run_in_y(image, p, q) + channel, v);
    store<kWidth>(v, to);
  });
}

/// Grid: shape_over(g.x). Reads the run of dy and, unless it is null, addend; writes dx.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kPixelThreads) write_gradient(Geometry g, const T* dy, const T* addend, T* dx) {
  for_my_pixels<kWidth>(g.x, [&](int image, int row, int column, int channel) {
    const std::int64_t at = g.x.at(image, row, column) + channel;
    const int p = row / g.stride, q = column / g.stride, from = channel - g.x_first;
    float v[kWidth] = {};
    if (p * g.stride == row && q * g.stride == column && from >= 0 && from < g.run.c)
      load<kWidth>(dy + g.run_in_y(image, p, q) + from, v);
    if (addend != nullptr) add(addend + at, v);
    store<kWidth>(v, dx + at);
  });
}

template <typename T, int kWidth>
class CudaChannelCopy final : public ChannelCopyOp {
 public:
  CudaChannelCopy(const ChannelCopySpec& spec, const Context& context)
      : geometry_(spec), keeps_rest_(spec.keeps_rest), context_(context) {}

  void forward(const void* x, void* y) override {
    launch(keeps_rest_ ? copy_run<T, kWidth> : copy_run_and_clear_rest<T, kWidth>,
           shape_over<kWidth>(keeps_rest_ ? geometry_.run : geometry_.y), context_.stream(), geometry_, x, y);
  }

  void backward(const void* dy, const void* addend, void* dx) override {
    if (addend == dx) {
      launch(add_gradient<T, kWidth>, shape_over<kWidth>(geometry_.run), context_.stream(), geometry_, dy, dx);
    } else {
      launch(write_gradient<T, kWidth>, shape_over<kWidth>(geometry_.x), context_.stream(), geometry_, dy, addend, dx);
    }
  }

 private:
  Geometry geometry_;
  bool keeps_rest_;
  const Context& context_;
};

}  // namespace

template <>
std::unique_ptr<ChannelCopyOp> make_op(const ChannelCopySpec& spec, const Resources& resources) {
  // Wide accesses need the run to begin at a multiple of the width in x and y, too.
  std::int64_t common = std::gcd(spec.x.c, spec.num_channels);
  for (const std::int64_t channels : {spec.count, spec.x_first, spec.y_first}) common = std::gcd(common, channels);
  return make_wide<CudaChannelCopy, ChannelCopyOp>(common, spec, resources.context);
}

}  // namespace convoy::ops::cuda
