/// Replaces the CUDA toolkit's header of this name: IEEE binary16.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <cuda_runtime.h>

// NOLINTBEGIN: names are CUDA's

struct __half {
  std::uint16_t bits;
};
struct alignas(4) __half2 {
  __half x, y;
};

/// Widens a value: 1 bit of sign, 5 of exponent (offset 15), 10 of fraction. With exponent 0 it is a multiple of 2^-24.
inline float __half2float(__half value) {
  const int sign = value.bits >> 15, exponent = value.bits >> 10 & 0x1f, fraction = value.bits & 0x3ff;
  float magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = fraction == 0 ? HUGE_VALF : std::nanf("");
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
  }
  return sign == 0 ? magnitude : -magnitude;
}

/// Rounds to nearest, ties to even; to infinity from 65520 on. NaN has the bits that a GPU writes.
inline __half __float2half_rn(float value) {
  if (std::isnan(value)) return {0x7fff};
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f) return {static_cast<std::uint16_t>(sign | 0x7c00)};
  if (magnitude == 0) return {sign};
  // In units of the last place, which is 2^-24 for subnormal values; nearbyint rounds as IEEE does by default.
  const int exponent = std::max(std::ilogb(magnitude), -14);
  const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return {static_cast<std::uint16_t>(sign | ((static_cast<unsigned>(exponent + 14) << 10) + units))};
}
inline __half __float2half(float value) {
  return __float2half_rn(value);
}

inline __half2 __floats2half2_rn(float x, float y) {
  return {__float2half_rn(x), __float2half_rn(y)};
}
inline float2 __half22float2(__half2 pair) {
  return {__half2float(pair.x), __half2float(pair.y)};
}

// NOLINTEND
