/// A word before each sequence, on a GPU: copies, bound by memory.
#include <memory>

#include "convoy/ops/prepend.h"

#include "ops/cuda/launch.h"
#include "ops/cuda/resources.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

struct Extents {
  explicit Extents(const PrependSpec& spec)
      : n(spec.n), width(spec.width), x_count(spec.length * spec.width), y_count(x_count + spec.width) {}

  std::int64_t n, width;
  std::int64_t x_count, y_count;  ///< values of one sequence
};

/// Grid: over y / kWidth. Reads x and writes y once; the token comes from the caches.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads) prepend(Extents e, const T* x, const float* token, T* y) {
  const std::int64_t at = my_index() * kWidth;
  if (at >= e.n * e.y_count) return;
  const std::int64_t n = at / e.y_count, i = at - n * e.y_count;
  float v[kWidth];
  if (i < e.width) {
    load<kWidth>(token + i, v);
  } else {
    load<kWidth>(x + n * e.x_count + (i - e.width), v);
  }
  store<kWidth>(v, y + at);
}

/// Grid: over dx / kWidth. Reads dy after the token, writes dx.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads) take_others(Extents e, const T* dy, T* dx) {
  const std::int64_t at = my_index() * kWidth;
  if (at >= e.n * e.x_count) return;
  const std::int64_t n = at / e.x_count;
  float v[kWidth];
  load<kWidth>(dy + at + (n + 1) * e.width, v);
  store<kWidth>(v, dx + at);
}

/// Grid: over C; each thread adds the N values of its channel in order.
template <typename T>
__global__ void __launch_bounds__(kThreads) sum_first(Extents e, const T* dy, float* dtoken) {
  const std::int64_t channel = my_index();
  if (channel >= e.width) return;
  float sum = 0;
#pragma unroll 4
  for (std::int64_t n = 0; n < e.n; ++n) sum += to_float(dy[n * e.y_count + channel]);
  dtoken[channel] = sum;
}

template <typename T, int kWidth>
class CudaPrepend final : public PrependOp {
 public:
  CudaPrepend(const PrependSpec& spec, const Context& context) : extents_(spec), context_(context) {}

  void forward(const void* x, const float* token, void* y) override {
    launch(prepend<T, kWidth>, shape_for(extents_.n * extents_.y_count / kWidth), context_.stream(), extents_, x, token,
           y);
  }

  void backward(const void* dy, void* dx, float* dtoken) override {
    if (dtoken != nullptr) launch(sum_first<T>, shape_for(extents_.width), context_.stream(), extents_, dy, dtoken);
    if (dx != nullptr)
      launch(take_others<T, kWidth>, shape_for(extents_.n * extents_.x_count / kWidth), context_.stream(), extents_, dy,
             dx);
  }

 private:
  Extents extents_;
  const Context& context_;
};

}  // namespace

template <>
std::unique_ptr<PrependOp> make_op(const PrependSpec& spec, const Resources& resources) {
  return make_wide<CudaPrepend, PrependOp>(spec.width, spec, resources.context);
}

}  // namespace convoy::ops::cuda
