/// Activations on a GPU: one pass over memory.
#include <cmath>
#include <memory>

#include "convoy/ops/activation.h"

#include "ops/activation_math.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/resources.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

struct DeviceMath {
  using V = float;

  __device__ static float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
  __device__ static float product_error(float a, float b, float product) { return __fmaf_rn(a, b, -product); }
  __device__ static float magnitude(float x) { return fabsf(x); }
  __device__ static float add_to_exponent(float v, float n) {
    return __uint_as_float(__float_as_uint(v) + (__float_as_uint(n) << 23));
  }
};

using Formulas = ActivationMath<DeviceMath>;

/// Grid: over count / kWidth. y may be x.
template <typename T, int kWidth, Activation f>
__global__ void __launch_bounds__(kThreads) activate(std::int64_t count, ActivationNumbers numbers, const T* x, T* y) {
  const std::int64_t begin = my_index() * kWidth;
  if (begin >= count) return;
  float v[kWidth];
  load<kWidth>(x + begin, v);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) v[i] = Formulas::template value<f>(v[i], numbers);
  store<kWidth>(v, y + begin);
}

/// Grid: over count / kWidth. dx may be dy.
template <typename T, int kWidth, Activation f>
__global__ void __launch_bounds__(kThreads)
    differentiate(std::int64_t count, ActivationNumbers numbers, const T* x, const T* dy, T* dx) {
  const std::int64_t begin = my_index() * kWidth;
  if (begin >= count) return;
  float v[kWidth], g[kWidth];
  load<kWidth>(x + begin, v);
  load<kWidth>(dy + begin, g);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) g[i] = Formulas::template gradient<f>(v[i], g[i], numbers);
  store<kWidth>(g, dx + begin);
}

template <typename T, int kWidth>
class CudaActivation final : public ActivationOp {
 public:
  CudaActivation(const ActivationSpec& spec, const Context& context) : spec_(spec), context_(context) {}

  void forward(const void* x, void* y) override {
    with_activation(spec_.activation, [&]<Activation f>(ActivationTag<f>) {
      launch(activate<T, kWidth, f>, shape(), context_.stream(), spec_.count, numbers(), x, y);
    });
  }

  void backward(const void* x, const void* dy, void* dx) override {
    if (spec_.activation == Activation::kAffine) x = dy;  // whose derivative does not depend on x
    with_activation(spec_.activation, [&]<Activation f>(ActivationTag<f>) {
      launch(differentiate<T, kWidth, f>, shape(), context_.stream(), spec_.count, numbers(), x, dy, dx);
    });
  }

 private:
  LaunchShape shape() const { return shape_for(spec_.count / kWidth); }
  ActivationNumbers numbers() const { return {spec_.factor, spec_.constant}; }

  ActivationSpec spec_;
  const Context& context_;
};

}  // namespace

template <>
std::unique_ptr<ActivationOp> make_op(const ActivationSpec& spec, const Resources& resources) {
  return make_wide<CudaActivation, ActivationOp>(spec.count, spec, resources.context);
}

}  // namespace convoy::ops::cuda
