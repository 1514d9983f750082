/// The mask of a ReLU, which forward stores for backward. Each pack of kWidth neighbouring values, which one thread
/// computes, has a byte. Bit i of it is set if y of value i is above 0.
#pragma once

#include <cstdint>

#include "ops/cuda/element.h"

namespace convoy::ops::cuda {

/// The largest float32 value that becomes 0 when it is stored as T. It is half of the smallest positive T, since ties
/// are rounded to even; for float32 it is 0.
template <typename T>
inline constexpr float kRoundsToZero = 0;
template <>
inline constexpr float kRoundsToZero<__nv_bfloat16> = 0x1p-134f;
template <>
inline constexpr float kRoundsToZero<__half> = 0x1p-25f;

/// Returns the mask of a pack in which only bit i may be set: it is set if the ReLU of `argument`, stored as T, is
/// above 0.
template <typename T>
__device__ inline unsigned mask_bit(float argument, int i) {
  return (argument > kRoundsToZero<T> ? 1u : 0u) << i;
}

/// Writes the mask of a pack. `at` is the index of the pack's first value, a multiple of kWidth.
template <int kWidth>
__device__ inline void write_mask(std::uint8_t* mask, std::int64_t at, unsigned bits) {
  mask[at / kWidth] = static_cast<std::uint8_t>(bits);
}
/// Returns the bits of the kWidth values from index `at` on, bit 0 first. The mask was written in packs of kPack
/// values, which is a multiple of kWidth. If kPack is larger than kWidth, higher bits belong to other values.
template <int kWidth, int kPack = kWidth>
__device__ inline unsigned read_mask(const std::uint8_t* mask, std::int64_t at) {
  const unsigned bits = mask[at / kPack];
  return kPack == kWidth ? bits : bits >> (at % kPack);
}

/// Sets v[i] to 0 for each i whose bit is not set.
template <int kWidth>
__device__ inline void keep_by(unsigned bits, float (&v)[kWidth]) {
#pragma unroll
  for (int i = 0; i < kWidth; ++i) v[i] = (bits >> i & 1u) != 0 ? v[i] : 0.0f;
}

}  // namespace convoy::ops::cuda
