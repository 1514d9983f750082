/// What kernels with a block for each row of logits share: a row's maximum, and sums in an order that the number of
/// classes alone decides.
#pragma once

#include <cmath>
#include <cstdint>

#include <cuda_runtime.h>

namespace convoy::ops::cuda {

inline constexpr int kWarp = 32, kMaxRowThreads = 256, kMaxRowWarps = kMaxRowThreads / kWarp;
inline constexpr unsigned kAllLanes = ~0u;

/// Of a block: 32 to 256, by the number of classes alone.
inline int threads_for_row(std::int64_t num_classes) {
  int threads = kWarp;
  while (threads < kMaxRowThreads && threads * 4 < num_classes) threads *= 2;
  return threads;
}

struct Largest {
  float value;
  std::int32_t index;
};

/// NaN never wins: the row's loss will tell of it.
__device__ inline Largest larger_of(const Largest& a, const Largest& b) {
  return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}

/// The same for all threads. Also a barrier; `shared` may be used again after the next one.
__device__ inline Largest largest_of_block(Largest mine, Largest (&shared)[kMaxRowWarps]) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) {
    mine =
        larger_of(mine, {__shfl_xor_sync(kAllLanes, mine.value, lanes), __shfl_xor_sync(kAllLanes, mine.index, lanes)});
  }
  if (threadIdx.x % kWarp == 0) shared[threadIdx.x / kWarp] = mine;
  __syncthreads();
  mine = shared[0];
  for (unsigned warp = 1; warp < blockDim.x / kWarp; ++warp) mine = larger_of(mine, shared[warp]);
  return mine;
}

/// In an order that depends on the block's size alone; likewise.
__device__ inline double sum_of_block(double mine, double (&shared)[kMaxRowWarps]) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) mine += __shfl_xor_sync(kAllLanes, mine, lanes);
  if (threadIdx.x % kWarp == 0) shared[threadIdx.x / kWarp] = mine;
  __syncthreads();
  mine = shared[0];
  for (unsigned warp = 1; warp < blockDim.x / kWarp; ++warp) mine += shared[warp];
  return mine;
}

/// The first among equals; the same for all threads. Also a barrier, as above.
__device__ inline Largest largest_of_row(const float* z, std::int64_t classes, Largest (&shared)[kMaxRowWarps]) {
  Largest mine{-INFINITY, 0};
  for (std::int64_t k = threadIdx.x; k < classes; k += blockDim.x) {
    mine = larger_of(mine, {z[k], static_cast<std::int32_t>(k)});
  }
  return largest_of_block(mine, shared);
}

}  // namespace convoy::ops::cuda
