/// Products of 16 x 16 and 16 x 8 values by one warp: on tensor cores if the GPU has them for the type, else by
/// exchanging values between lanes (for float32, on a Volta, and on the emulated GPU).
#pragma once

#include <cstring>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "ops/cuda/element.h"

namespace convoy::ops::cuda {

/// Two values that are neighbours along the dimension of the sum.
template <typename T>
struct alignas(2 * sizeof(T)) Pair {
  T first, second;
};

/// The part of a matrix that each lane of a warp holds, as for mma.m16n8k16 of PTX. A lane's number is 4 group + place,
/// with group in 0..7 and place in 0..3. It holds
///   of a (16,16)   the pairs at rows group, group + 8, group, group + 8, from columns 2 place twice, 2 place + 8 twice
///   of b (16,8)    the pairs of column group, from rows 2 place and 2 place + 8
///   of c (16,8)    columns 2 place and 2 place + 1 of row group, then of row group + 8
template <typename T>
using FragmentA = Pair<T>[4];
template <typename T>
using FragmentB = Pair<T>[2];
using FragmentC = float[4];

__device__ inline int lane_group() {
  return static_cast<int>(threadIdx.x % 32) / 4;
}
__device__ inline int lane_place() {
  return static_cast<int>(threadIdx.x % 4);
}

/// Returns a pair of 16-bit values as 32 bits, which lanes exchange and tensor cores read.
template <typename T>
__device__ unsigned bits_of(const Pair<T>& pair) {
  static_assert(sizeof(Pair<T>) == sizeof(unsigned));
  unsigned bits = 0;
  std::memcpy(&bits, &pair, sizeof(bits));
  return bits;
}

/// Returns the pair that lane `lane` gives as `mine`, converted to float32. Called by all lanes of a warp.
__device__ inline float2 widened_pair(const Pair<float>& mine, int lane) {
  return make_float2(__shfl_sync(~0u, mine.first, lane), __shfl_sync(~0u, mine.second, lane));
}
template <typename T>
__device__ float2 widened_pair(const Pair<T>& mine, int lane) {
  const unsigned bits = __shfl_sync(~0u, bits_of(mine), lane);
  Pair<T> pair;
  std::memcpy(static_cast<void*>(&pair), &bits, sizeof(bits));
  return make_float2(to_float(pair.first), to_float(pair.second));
}

/// Computes c += a b by exchanging values between lanes. Each value of c is summed in the order of the inner index.
/// Called by all lanes of a warp.
template <typename T>
__device__ void multiply_by_exchange(const FragmentA<T>& a, const FragmentB<T>& b, FragmentC& c) {
#pragma unroll
  for (int word = 0; word < 8; ++word) {
    const int half = word / 4, place = word % 4, row_lane = lane_group() * 4 + place,
              column_lane = lane_place() * 8 + place;
    const float2 upper = widened_pair(a[2 * half], row_lane), lower = widened_pair(a[2 * half + 1], row_lane);
    const float2 left = widened_pair(b[half], column_lane), right = widened_pair(b[half], column_lane + 4);
    c[0] = __fmaf_rn(upper.y, left.y, __fmaf_rn(upper.x, left.x, c[0]));
    c[1] = __fmaf_rn(upper.y, right.y, __fmaf_rn(upper.x, right.x, c[1]));
    c[2] = __fmaf_rn(lower.y, left.y, __fmaf_rn(lower.x, left.x, c[2]));
    c[3] = __fmaf_rn(lower.y, right.y, __fmaf_rn(lower.x, right.x, c[3]));
  }
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define CONVOY_MULTIPLY_ON_TENSOR_CORES(type)                                                               \
  asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                                                \
      ".f32 {%0, %1, %2, %3}, "                                                                             \
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                                       \
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                                      \
      : "r"(bits_of(a[0])), "r"(bits_of(a[1])), "r"(bits_of(a[2])), "r"(bits_of(a[3])), "r"(bits_of(b[0])), \
        "r"(bits_of(b[1])))
__device__ inline void multiply_add(const FragmentA<__nv_bfloat16>& a, const FragmentB<__nv_bfloat16>& b,
                                    FragmentC& c) {
  CONVOY_MULTIPLY_ON_TENSOR_CORES("bf16");
}
__device__ inline void multiply_add(const FragmentA<__half>& a, const FragmentB<__half>& b, FragmentC& c) {
  CONVOY_MULTIPLY_ON_TENSOR_CORES("f16");
}
#undef CONVOY_MULTIPLY_ON_TENSOR_CORES
__device__ inline void multiply_add(const FragmentA<float>& a, const FragmentB<float>& b, FragmentC& c) {
  multiply_by_exchange<float>(a, b, c);
}
#else
template <typename T>
__device__ void multiply_add(const Pair<T> (&a)[4], const Pair<T> (&b)[2], FragmentC& c) {
  multiply_by_exchange<T>(a, b, c);
}
#endif

}  // namespace convoy::ops::cuda
