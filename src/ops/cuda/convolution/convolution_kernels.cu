/// Kernels of one pass each, bound by memory.
#include "ops/cuda/convolution/convolution_kernels.h"
#include "ops/cuda/element.h"
#include "ops/cuda/launch.h"

namespace convoy::ops::cuda {

namespace {

constexpr int kValues = 8;  // values that a thread widens: 16 bytes of input

/// Grid: ceil(count / 2048). Block: 256. Reads 2 bytes and writes 4 bytes per value. A weight's gradient has just been
/// written and is small, so it is mostly still in the cache.
template <typename T>
__global__ __launch_bounds__(kThreads) void widen_kernel(const T* __restrict__ from, float* __restrict__ to,
                                                         std::int64_t count) {
  const std::int64_t start = my_index() * kValues;
  if (start + kValues <= count) {
    float values[kValues];
    load(from + start, values);
#pragma unroll
    for (int half = 0; half < kValues; half += 4) {
      const float four[4] = {values[half], values[half + 1], values[half + 2], values[half + 3]};
      store(four, to + start + half);
    }
  } else {
    for (std::int64_t i = start; i < count; ++i) to[i] = to_float(from[i]);
  }
}

}  // namespace

void widen(DataType type, const void* from, float* to, std::int64_t count, const Context& context) {
  with_type(type, [&]<typename T>(T*) {
    launch(&widen_kernel<T>, shape_for(ceil_div(count, kValues)), context.stream(), from, to, count);
  });
}

}  // namespace convoy::ops::cuda
