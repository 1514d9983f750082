/// Means over sequences on a GPU: bound by memory.
#include <algorithm>
#include <bit>
#include <memory>

#include "convoy/ops/sequence_mean.h"

#include "ops/cuda/image_extents.h"
#include "ops/cuda/resources.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kTileBytes = 128;  // of a word, for one block: few, so that a small batch keeps all multiprocessors busy
constexpr int kWordsAtOnce = 4;  // words that a thread reads at a time

__device__ int clamped(int length, int longest) {
  return min(max(length, 1), longest);
}

/// Each thread adds every blockDim.y-th word in order, then the threads of a column are added from top to bottom, in
/// float32.
/// Grid: tiles of columns x N at most. Block: one tile wide, 256 threads. Shared: at most 8 KiB. Reads x once, up to
/// the lengths.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads)
    average_words(ImageExtents x_extents, const T* x, const std::int32_t* lengths, T* y) {
  alignas(32) __shared__ float sums[kThreads * kWidth];
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * kWidth;
  const int me = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x), height = static_cast<int>(blockDim.y);
  const int tile = static_cast<int>(blockDim.x) * kWidth, summed = static_cast<int>(blockIdx.x) * tile + me;
  for (int n = static_cast<int>(blockIdx.y); n < x_extents.n; n += static_cast<int>(gridDim.y)) {
    const int length = clamped(lengths[n], x_extents.h);
    float sum[kWidth] = {};
    if (column < x_extents.c) {
#pragma unroll kWordsAtOnce
      for (int t = static_cast<int>(threadIdx.y); t < length; t += height) {
        float v[kWidth];
        load<kWidth>(x + x_extents.at(n, t, 0) + column, v);
#pragma unroll
        for (int i = 0; i < kWidth; ++i) sum[i] += v[i];
      }
    }
    store<kWidth>(sum, sums + me * kWidth);
    __syncthreads();
    if (me < tile && summed < x_extents.c) {
      float total = 0;
      for (int row = 0; row < height; ++row) total += sums[row * tile + me];
      y[std::int64_t{n} * x_extents.c + summed] = from_float<T>(__fdiv_rn(total, static_cast<float>(length)));
    }
    __syncthreads();
  }
}

/// Grid: shape_over(dx). Writes dx once; dy comes from the caches.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kPixelThreads)
    spread_over_words(ImageExtents x, const T* dy, const std::int32_t* lengths, T* dx) {
  for_my_pixels<kWidth>(x, [&](int n, int t, int, int channel) {
    const int length = clamped(lengths[n], x.h);
    float v[kWidth] = {};
    if (t < length) {
      load<kWidth>(dy + std::int64_t{n} * x.c + channel, v);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) v[i] = __fdiv_rn(v[i], static_cast<float>(length));
    }
    store<kWidth>(v, dx + x.at(n, t, 0) + channel);
  });
}

template <typename T, int kWidth>
class CudaSequenceMean final : public SequenceMeanOp {
 public:
  CudaSequenceMean(const SequenceMeanSpec& spec, const Context& context)
      : x_(Shape::sequences(spec.n, spec.length, spec.width)), context_(context) {}

  void forward(const void* x, const std::int32_t* lengths, void* y) override {
    constexpr auto kMaxBlockWidth = static_cast<unsigned>(kTileBytes / (kWidth * sizeof(T)));
    const unsigned width = std::min(std::bit_ceil(static_cast<unsigned>(x_.c / kWidth)), kMaxBlockWidth);
    const LaunchShape shape{{static_cast<unsigned>(ceil_div(x_.c, std::int64_t{width} * kWidth)),
                             static_cast<unsigned>(std::min(x_.n, kMaxGridHeight)), 1},
                            {width, kThreads / width, 1}};
    launch(average_words<T, kWidth>, shape, context_.stream(), x_, static_cast<const T*>(x), lengths,
           static_cast<T*>(y));
  }

  void backward(const void* dy, const std::int32_t* lengths, void* dx) override {
    launch(spread_over_words<T, kWidth>, shape_over<kWidth>(x_), context_.stream(), x_, static_cast<const T*>(dy),
           lengths, static_cast<T*>(dx));
  }

 private:
  ImageExtents x_;
  const Context& context_;
};

}  // namespace

template <>
std::unique_ptr<SequenceMeanOp> make_op(const SequenceMeanSpec& spec, const Resources& resources) {
  return make_wide<CudaSequenceMean, SequenceMeanOp>(spec.width, spec, resources.context);
}

}  // namespace convoy::ops::cuda
