/// Parameter-free shortcuts on a GPU: strided copies, bound by memory.
#include <memory>
#include <numeric>

#include "convoy/ops/shortcut.h"

#include "ops/cuda/operations.h"
#include "ops/cuda/places.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

struct Geometry {
  explicit Geometry(const ShortcutSpec& spec)
      : x(spec.x),
        y(spec.y()),
        taken({spec.x.n, spec.y().h, spec.y().w, spec.x.c}),
        stride(static_cast<int>(spec.stride)),
        before(static_cast<int>(spec.channels_before)) {}

  Places x, y;
  Places taken;  ///< the values of x that are part of y
  int stride, before;

  __device__ std::int64_t x_at(int image, int p, int q) const { return x.at(image, p * stride, q * stride); }
};

/// Grid: shape_over(y). Reads the values of x that are taken, writes y.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kPlaceThreads) take_pixels(Geometry g, const T* x, T* y) {
  for_my_places<kWidth>(g.y, [&](int image, int p, int q, int channel) {
    const int from = channel - g.before;
    float v[kWidth] = {};
    if (from >= 0 && from < g.x.c) load<kWidth>(x + g.x_at(image, p, q) + from, v);
    store<kWidth>(v, y + g.y.at(image, p, q) + channel);
  });
}

/// Grid: shape_over(what is taken). Reads that part of dy, reads and writes that of dx; one float32 addition.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kPlaceThreads) add_gradients(Geometry g, const T* dy, T* dx) {
  for_my_places<kWidth>(g.taken, [&](int image, int p, int q, int channel) {
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
    launch(take_pixels<T, kWidth>, shape_over<kWidth>(geometry_.y), context_.stream(), geometry_,
           static_cast<const T*>(x), static_cast<T*>(y));
  }

  void backward(const void* dy, void* dx) override {
    launch(add_gradients<T, kWidth>, shape_over<kWidth>(geometry_.taken), context_.stream(), geometry_,
           static_cast<const T*>(dy), static_cast<T*>(dx));
  }

 private:
  Geometry geometry_;
  const Context& context_;
};

}  // namespace

std::unique_ptr<ShortcutOp> make_shortcut(const ShortcutSpec& spec, Context& context) {
  // Wide accesses need x's channels to begin at a multiple of the width in y, too.
  const std::int64_t common = std::gcd(std::gcd(spec.x.c, spec.num_channels), spec.channels_before);
  std::unique_ptr<ShortcutOp> op;
  with_type(spec.type, [&]<typename T>(T*) {
    with_width<T>(common,
                  [&]<int kWidth>(Width<kWidth>) { op = std::make_unique<CudaShortcut<T, kWidth>>(spec, context); });
  });
  return op;
}

}  // namespace convoy::ops::cuda
