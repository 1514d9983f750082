/// The mask of a ReLU for backward: one byte for each pack of kWidth neighbouring values that a thread computes. Bit i
/// is set if the ReLU let value i through.
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

/// Value i's bit in a pack. `argument` is the ReLU's argument; values are stored as T.
template <typename T>
__device__ inline unsigned mask_bit(float argument, int i) {
  return (argument > kRoundsToZero<T> ? 1u : 0u) << i;
}

/// Writes the bits of a pack. `at` is the index of its first value, a multiple of kWidth.
template <int kWidth>
__device__ inline void write_mask(std::uint8_t* mask, std::int64_t at, unsigned bits) {
  mask[at / kWidth] = static_cast<std::uint8_t>(bits);
}
/// Returns the bits of kWidth values from `at` on, in a mask written in packs of kPack values, a multiple of kWidth.
template <int kWidth, int kPack = kWidth>
__device__ inline unsigned read_mask(const std::uint8_t* mask, std::int64_t at) {
  const unsigned bits = mask[at / kPack];
  return kPack == kWidth ? bits : bits >> (at % kPack);
}

/// Keeps each v whose bit is set, which the ReLU let through, and sets the others to 0.
template <int kWidth>
__device__ inline void keep_by(unsigned bits, float (&v)[kWidth]) {
#pragma unroll
  for (int i = 0; i < kWidth; ++i) v[i] = (bits >> i & 1u) != 0 ? v[i] : 0.0f;
}

}  // namespace convoy::ops::cuda
