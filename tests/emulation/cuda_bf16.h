/// Replaces the CUDA toolkit's header of this name: bfloat16 as the upper half of a float32.
#pragma once

#include <cmath>
#include <cstdint>

#include <cuda_runtime.h>

// NOLINTBEGIN: names are CUDA's

struct __nv_bfloat16 {
  std::uint16_t bits;
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};

inline float __bfloat162float(__nv_bfloat16 value) {
  return __uint_as_float(std::uint32_t{value.bits} << 16);
}

/// Rounds to nearest, ties to even. NaN has the bits that a GPU writes.
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  if (std::isnan(value)) return {0x7fff};
  const std::uint32_t bits = __float_as_uint(value), odd = bits >> 16 & 1;
  return {static_cast<std::uint16_t>((bits + 0x7fff + odd) >> 16)};
}
inline __nv_bfloat16 __float2bfloat16(float value) {
  return __float2bfloat16_rn(value);
}

inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)};
}
inline float2 __bfloat1622float2(__nv_bfloat162 pair) {
  return {__bfloat162float(pair.x), __bfloat162float(pair.y)};
}

// NOLINTEND
