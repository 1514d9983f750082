/// Conversion of values between memory, in any storage type, and registers, in float32. Up to 16 bytes are loaded or
/// stored at a time.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "convoy/base/data_type.h"

namespace convoy::ops::cuda {

__device__ inline float to_float(float value) {
  return value;
}
__device__ inline float to_float(__nv_bfloat16 value) {
  return __bfloat162float(value);
}
__device__ inline float to_float(__half value) {
  return __half2float(value);
}

/// Converts `value` to T, rounded to nearest, ties to even.
template <typename T>
__device__ T from_float(float value);
template <>
__device__ inline float from_float<float>(float value) {
  return value;
}
template <>
__device__ inline __nv_bfloat16 from_float<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}
template <>
__device__ inline __half from_float<__half>(float value) {
  return __float2half_rn(value);
}

/// Returns `value` rounded to T: the value that is loaded after `value` has been stored as T.
template <typename T>
__device__ float as_stored(float value) {
  return to_float(from_float<T>(value));
}

/// Converts two values at once: one instruction if the GPU has it.
__device__ inline void from_floats(float first, float second, float* to) {
  to[0] = first;
  to[1] = second;
}
__device__ inline void from_floats(float first, float second, __nv_bfloat16* to) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
  to[0] = pair.x;
  to[1] = pair.y;
}
__device__ inline void from_floats(float first, float second, __half* to) {
  const __half2 pair = __floats2half2_rn(first, second);
  to[0] = pair.x;
  to[1] = pair.y;
}

/// The largest number of values of T that one access (16 bytes) can load or store.
template <typename T>
inline constexpr int kWidest = 16 / static_cast<int>(sizeof(T));

/// kWidth neighbouring values, which one access loads or stores. Their address must be a multiple of kWidth * sizeof(T)
/// bytes.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Pack {
  T values[kWidth];
};

template <int kWidth, typename T>
__device__ inline void load(const T* from, float (&to)[kWidth]) {
  const auto pack = *reinterpret_cast<const Pack<T, kWidth>*>(from);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) to[i] = to_float(pack.values[i]);
}

template <int kWidth, typename T>
__device__ inline void store(const float (&from)[kWidth], T* to) {
  Pack<T, kWidth> pack;
#pragma unroll
  for (int i = 0; i + 1 < kWidth; i += 2) from_floats(from[i], from[i + 1], pack.values + i);
  if constexpr (kWidth % 2 == 1) pack.values[kWidth - 1] = from_float<T>(from[kWidth - 1]);
  *reinterpret_cast<Pack<T, kWidth>*>(to) = pack;
}

/// Calls `work` with a null pointer to the C++ type that stores `type`: with_type(spec.type, [&](auto* tag) { ... }).
template <typename Work>
void with_type(DataType type, Work&& work) {
  switch (type) {
    case DataType::kFloat32:
      return work(static_cast<float*>(nullptr));
    case DataType::kBfloat16:
      return work(static_cast<__nv_bfloat16*>(nullptr));
    case DataType::kFloat16:
      return work(static_cast<__half*>(nullptr));
    case DataType::kInt32:
      return;  // no kernel computes in it
  }
}

}  // namespace convoy::ops::cuda
