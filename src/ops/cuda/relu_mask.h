/// What backward is told of a ReLU: one byte for each pack of kWidth neighbouring values that a thread computes; bit i
/// is set where the ReLU let value i through.
#pragma once

#include <cstdint>

#include "ops/cuda/element.h"

namespace convoy::ops::cuda {

/// The largest value that is stored as 0: half of the smallest positive T, a tie.
template <typename T>
inline constexpr float kRoundsToZero = 0;
template <>
inline constexpr float kRoundsToZero<__nv_bfloat16> = 0x1p-134f;
template <>
inline constexpr float kRoundsToZero<__half> = 0x1p-25f;

/// Value i's bit of a pack. `argument`: what the ReLU of values stored as T was given.
template <typename T>
__device__ inline unsigned mask_bit(float argument, int i) {
  return (argument > kRoundsToZero<T> ? 1u : 0u) << i;
}

/// `at`: of the pack's first value, a multiple of kWidth.
template <int kWidth>
__device__ inline void write_mask(std::uint8_t* mask, std::int64_t at, unsigned bits) {
  mask[at / kWidth] = static_cast<std::uint8_t>(bits);
}
/// Of kWidth values from `at` on, in a mask that was written in packs of kPack values, a multiple of kWidth.
template <int kWidth, int kPack = kWidth>
__device__ inline unsigned read_mask(const std::uint8_t* mask, std::int64_t at) {
  const unsigned bits = mask[at / kPack];
  return kPack == kWidth ? bits : bits >> (at % kPack);
}

/// v where the ReLU let through, elsewhere 0.
template <int kWidth>
__device__ inline void keep_by(unsigned bits, float (&v)[kWidth]) {
#pragma unroll
  for (int i = 0; i < kWidth; ++i) v[i] = (bits >> i & 1u) != 0 ? v[i] : 0.0f;
}

}  // namespace convoy::ops::cuda
