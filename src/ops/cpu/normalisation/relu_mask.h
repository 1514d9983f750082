/// The mask of a ReLU, which forward stores for backward: one bit per value, which is set if y is above 0. Bit i % 8 of
/// byte i / 8 belongs to value i.
/// Include it, as simd.h, only in files that are compiled with -march=CONVOY_ARCH.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

// Only if vectors are as wide as the intrinsics' (clang-tidy's are not).
#if (defined(__AVX512F__) && __BIGGEST_ALIGNMENT__ == 64) || (defined(__AVX__) && __BIGGEST_ALIGNMENT__ == 32)
#include <immintrin.h>
#endif

#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

template <int... i>
[[gnu::always_inline]] inline IntVec powers_of_two(std::integer_sequence<int, i...> /*lanes*/) {
  return IntVec{(1 << i)...};
}
[[gnu::always_inline]] inline IntVec powers_of_two() {
  return powers_of_two(std::make_integer_sequence<int, int{kLanes}>{});
}

/// Returns a number whose bit i is set if lane i of v is above the threshold.
[[gnu::always_inline]] inline std::uint32_t bits_above(Vec v, float threshold) {
#if defined(__AVX512F__) && __BIGGEST_ALIGNMENT__ == 64
  return _mm512_cmp_ps_mask(v, Vec{} + threshold, _CMP_GT_OQ);
#elif defined(__AVX__) && __BIGGEST_ALIGNMENT__ == 32
  return static_cast<std::uint32_t>(_mm256_movemask_ps(std::bit_cast<__m256>(v > threshold)));
#else
  const IntVec bits = (v > threshold) & powers_of_two();
  std::int32_t all = 0;
  for (std::int64_t i = 0; i < kLanes; ++i) all |= bits[i];
  return static_cast<std::uint32_t>(all);
#endif
}

/// Returns v in the lanes whose bits are set, and 0 in the others.
[[gnu::always_inline]] inline Vec kept_by(std::uint32_t bits, Vec v) {
#if defined(__AVX512F__) && __BIGGEST_ALIGNMENT__ == 64
  return _mm512_maskz_mov_ps(static_cast<__mmask16>(bits), v);
#else
  return ((IntVec{} + static_cast<std::int32_t>(bits)) & powers_of_two()) != 0 ? v : Vec{};
#endif
}

/// Returns the index of the mask's byte that has the bit of value `at`. It is unsigned, since the division of a number
/// that may be negative takes more instructions.
[[gnu::always_inline]] inline std::uint64_t mask_byte_of(std::int64_t at) {
  return static_cast<std::uint64_t>(at) / 8;
}

/// Writes the bits of the kLanes values from index `at` on, a multiple of kLanes. `argument` has the ReLU's arguments;
/// y is stored as T.
template <typename T>
[[gnu::always_inline]] inline void write_mask(std::uint8_t* mask, std::int64_t at, Vec argument) {
  const std::uint32_t bits = bits_above(argument, kStoredAsZero<T>);
  if constexpr (kLanes >= 8) {
    // All processors with such vectors store the lowest byte first.
    std::memcpy(mask + mask_byte_of(at), &bits, kLanes / 8);
  } else {
    const std::uint32_t before = at % 8 == 0 ? 0u : mask[mask_byte_of(at)];
    mask[mask_byte_of(at)] = static_cast<std::uint8_t>(before | bits << (at % 8));
  }
}
/// Writes the bit of the value at index `at`. The bits before it in its byte must have been written; those after it
/// become 0. `argument` is the ReLU's argument; y is stored as T.
template <typename T>
[[gnu::always_inline]] inline void write_mask(std::uint8_t* mask, std::int64_t at, float argument) {
  const std::uint32_t bit = argument > kStoredAsZero<T> ? 1u : 0u, before = at % 8 == 0 ? 0u : mask[mask_byte_of(at)];
  mask[mask_byte_of(at)] = static_cast<std::uint8_t>(before | bit << (at % 8));
}

/// Returns v in the lanes whose bits in the mask are set, and 0 in the others. The lanes belong to the kLanes values
/// from index `at` on, a multiple of kLanes. The overload does the same for the single value at index `at`.
[[gnu::always_inline]] inline Vec kept_by_mask(const std::uint8_t* mask, std::int64_t at, Vec v) {
  std::uint32_t bits = 0;
  if constexpr (kLanes >= 8) {
    std::memcpy(&bits, mask + mask_byte_of(at), kLanes / 8);
  } else {
    bits = static_cast<std::uint32_t>(mask[mask_byte_of(at)]) >> (at % 8);
  }
  return kept_by(bits, v);
}
[[gnu::always_inline]] inline float kept_by_mask(const std::uint8_t* mask, std::int64_t at, float v) {
  return (mask[mask_byte_of(at)] >> (at % 8) & 1) != 0 ? v : 0.0f;
}

}  // namespace convoy::ops::cpu
