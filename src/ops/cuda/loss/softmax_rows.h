/// Functions for kernels in which a thread block computes one row of logits: the row's maximum, and sums in an order
/// that depends on the number of classes alone.
#pragma once

#include <cmath>
#include <cstdint>

#include <cuda_runtime.h>

namespace convoy::ops::cuda {

inline constexpr int kWarp = 32, kMaxRowThreads = 256, kMaxRowWarps = kMaxRowThreads / kWarp;
inline constexpr unsigned kAllLanes = ~0u;

/// Returns the number of threads of a block that computes one row of logits: 32 to 256. It depends on the number of
/// classes alone.
inline int threads_for_row(std::int64_t num_classes) {
  int threads = kWarp;
  while (threads < kMaxRowThreads && threads * 4 < num_classes) threads *= 2;
  return threads;
}

struct Largest {
  float value;
  std::int32_t index;
};

/// Returns the larger of two values; of equal values, the one with the lower index. If b is NaN, it returns a. A NaN
/// makes the row's loss NaN, so the maximum does not have to show it.
__device__ inline Largest larger_of(const Largest& a, const Largest& b) {
  return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}

/// Returns the largest `mine` of the block's threads, in each thread. Called by all threads. It contains a barrier
/// (__syncthreads); `shared` may be used again after the next barrier.
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

/// Returns the sum of `mine` over the block's threads, in each thread, added in an order that depends on the block's
/// size alone. Called by all threads. It contains a barrier (__syncthreads); `shared` may be used again after the next
/// barrier.
__device__ inline double sum_of_block(double mine, double (&shared)[kMaxRowWarps]) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) mine += __shfl_xor_sync(kAllLanes, mine, lanes);
  if (threadIdx.x % kWarp == 0) shared[threadIdx.x / kWarp] = mine;
  __syncthreads();
  mine = shared[0];
  for (unsigned warp = 1; warp < blockDim.x / kWarp; ++warp) mine += shared[warp];
  return mine;
}

/// Returns the largest of the row's values z[0..classes-1], in each thread; of equal values, the first. Values that are
/// NaN are passed over. If no value is above -infinity, returns -infinity and index 0. Called by all threads. It
/// contains a barrier (__syncthreads); `shared` may be used again after the next barrier.
__device__ inline Largest largest_of_row(const float* z, std::int64_t classes, Largest (&shared)[kMaxRowWarps]) {
  Largest mine{-INFINITY, 0};
  for (std::int64_t k = threadIdx.x; k < classes; k += blockDim.x) {
    mine = larger_of(mine, {z[k], static_cast<std::int32_t>(k)});
  }
  return largest_of_block(mine, shared);
}

}  // namespace convoy::ops::cuda
