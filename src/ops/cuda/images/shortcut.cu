/// Parameter-free shortcuts on a GPU: strided copies, bound by memory.
#include <memory>
#include <numeric>

#include "convoy/ops/shortcut.h"

#include "ops/cuda/image_extents.h"
#include "ops/cuda/resources.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

struct Geometry {
  explicit Geometry(const ShortcutSpec& spec)
      : x(spec.x),
        y(spec.y()),
        taken(Shape::images(spec.x.n, spec.y().h, spec.y().w, spec.x.c)),
        stride(static_cast<int>(spec.stride)),
        before(static_cast<int>(spec.channels_before)) {}

  ImageExtents x, y;
  ImageExtents taken;  ///< the values of x that are part of y
  int stride, before;

  __device__ std::int64_t x_at(int image, int p, int q) const { return x.at(image, p * stride, q * stride); }
};

/// Grid: shape_over(y). Reads the values of x that are taken, writes y.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kPixelThreads) take_pixels(Geometry g, const T* x, T* y) {
  for_my_pixels<kWidth>(g.y, [&](int image, int p, int q, int channel) {
    const int from = channel - g.before;
    float v[kWidth] = {};
    if (from >= 0 && from < g.x.c) load<kWidth>(x + g.x_at(image, p, q) + from, v);
    store<kWidth>(v, y + g.y.at(image, p, q) + channel);
  });
}

/// Grid: shape_over(g.taken). Reads the taken part of dy, reads and writes that of dx; one float32 addition per value.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kPixelThreads) add_gradients(Geometry g, const T* dy, T* dx) {
  for_my_pixels<kWidth>(g.taken, [&](int image, int p, int q, int channel) {
    T* const to = dx + g.x_at(image, p, q) + channel;
    float added[kWidth], v[kWidth];
    load<kWidth>(dy + g.y.at(image, p, q) + g.before + channel, added);
    load<kWidth>(to, v);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) v[i] += added[i];
    store<kWidth>(v, to);
  });
}

template <typename T, int kWidth>
class CudaShortcut final : public ShortcutOp {
 public:
  CudaShortcut(const ShortcutSpec& spec, const Context& context) : geometry_(spec), context_(context) {}

  void forward(const void* x, void* y) override {
    launch(take_pixels<T, kWidth>, shape_over<kWidth>(geometry_.y), context_.stream(), geometry_, x, y);
  }

  void backward(const void* dy, void* dx) override {
    launch(add_gradients<T, kWidth>, shape_over<kWidth>(geometry_.taken), context_.stream(), geometry_, dy, dx);
  }

 private:
  Geometry geometry_;
  const Context& context_;
};

}  // namespace

template <>
std::unique_ptr<ShortcutOp> make_op(const ShortcutSpec& spec, const Resources& resources) {
  // Wide accesses need x's channels to begin at a multiple of the width in y, too.
  const std::int64_t common = std::gcd(std::gcd(spec.x.c, spec.num_channels), spec.channels_before);
  return make_wide<CudaShortcut, ShortcutOp>(common, spec, resources.context);
}

}  // namespace convoy::ops::cuda
