/// The mask of a ReLU for backward: one bit per value, which is set if the ReLU let the value through. Bit i % 8 of
/// byte i / 8 belongs to value i. Like simd.h only for files compiled with -march=CONVOY_ARCH.
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

/// Returns bits of which bit i is set if lane i is above the threshold.
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

/// v in the lanes whose bits are set, elsewhere 0.
[[gnu::always_inline]] inline Vec kept_by(std::uint32_t bits, Vec v) {
#if defined(__AVX512F__) && __BIGGEST_ALIGNMENT__ == 64
  return _mm512_maskz_mov_ps(static_cast<__mmask16>(bits), v);
#else
  return ((IntVec{} + static_cast<std::int32_t>(bits)) & powers_of_two()) != 0 ? v : Vec{};
#endif
}

/// The index of the byte that holds the bit of value `at`. It is unsigned, since a division of a number that may be
/// negative takes more steps.
[[gnu::always_inline]] inline std::uint64_t mask_byte_of(std::int64_t at) {
  return static_cast<std::uint64_t>(at) / 8;
}

/// Writes the bits of kLanes values from `at` on, a multiple of kLanes; or, in the overload, the bit of the value
/// there, if the bits before it in its byte have been written. `argument` is the ReLU's argument; values are stored as
/// T.
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
template <typename T>
[[gnu::always_inline]] inline void write_mask(std::uint8_t* mask, std::int64_t at, float argument) {
  const std::uint32_t bit = argument > kStoredAsZero<T> ? 1u : 0u, before = at % 8 == 0 ? 0u : mask[mask_byte_of(at)];
  mask[mask_byte_of(at)] = static_cast<std::uint8_t>(before | bit << (at % 8));
}

/// Returns v if the ReLU let the value through, else 0: for kLanes values from `at` on, a multiple of kLanes, or for
/// one.
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
