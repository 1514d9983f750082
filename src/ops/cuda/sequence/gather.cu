/// Words taken out of sequences on a GPU: copies, bound by memory.
#include <cmath>
#include <cstdint>
#include <memory>

#include "convoy/ops/gather.h"

#include "ops/check_spec.h"
#include "ops/cuda/image_extents.h"
#include "ops/cuda/resources.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

/// The position in sequence n of the k-th word that is taken out of it.
__device__ inline int position_of(const std::int32_t* positions, int n, int k, int num_taken) {
  return positions == nullptr ? k : positions[std::int64_t{n} * num_taken + k];
}

/// Grid: shape_over(y). Reads the words that are taken, writes y once.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kPixelThreads)
    take_words(ImageExtents x, ImageExtents y, const T* from, const std::int32_t* positions, T* to) {
  for_my_pixels<kWidth>(y, [&](int n, int k, int, int channel) {
    const int position = position_of(positions, n, k, y.h);
    const bool is_there = position >= 0 && position < x.h;
    float v[kWidth];
    if (is_there) load<kWidth>(from + x.at(n, position, 0) + channel, v);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const float other = position == kNoPosition ? 0.0f : NAN;
      v[i] = is_there ? v[i] : other;
    }
    store<kWidth>(v, to + y.at(n, k, 0) + channel);
  });
}

/// Grid: shape_over(x). A thread reads all positions of its sequence, which are in L1; writes dx once.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kPixelThreads)
    add_up_words(ImageExtents x, ImageExtents y, const T* dy, const std::int32_t* positions, T* dx) {
  for_my_pixels<kWidth>(x, [&](int n, int t, int, int channel) {
    float sum[kWidth] = {};
    for (int k = 0; k < y.h; ++k) {
      if (position_of(positions, n, k, y.h) != t) continue;
      float v[kWidth];
      load<kWidth>(dy + y.at(n, k, 0) + channel, v);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) sum[i] += v[i];
    }
    store<kWidth>(sum, dx + x.at(n, t, 0) + channel);
  });
}

template <typename T, int kWidth>
class CudaGather final : public GatherOp {
 public:
  CudaGather(const GatherSpec& spec, const Context& context)
      : spec_(spec),
        x_(Shape::sequences(spec.n, spec.length, spec.width)),
        y_(Shape::sequences(spec.n, spec.num_taken, spec.width)),
        context_(context) {}

  void forward(const void* x, const std::int32_t* positions, void* y) override {
    if (positions == nullptr) check_positions(spec_);
    launch(take_words<T, kWidth>, shape_over<kWidth>(y_), context_.stream(), x_, y_, static_cast<const T*>(x),
           positions, static_cast<T*>(y));
  }

  void backward(const void* dy, const std::int32_t* positions, void* dx) override {
    if (positions == nullptr) check_positions(spec_);
    launch(add_up_words<T, kWidth>, shape_over<kWidth>(x_), context_.stream(), x_, y_, static_cast<const T*>(dy),
           positions, static_cast<T*>(dx));
  }

 private:
  GatherSpec spec_;
  ImageExtents x_, y_;
  const Context& context_;
};

}  // namespace

template <>
std::unique_ptr<GatherOp> make_op(const GatherSpec& spec, const Resources& resources) {
  return make_wide<CudaGather, GatherOp>(spec.width, spec, resources.context);
}

}  // namespace convoy::ops::cuda
