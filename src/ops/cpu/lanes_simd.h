/// Operations between the lanes of vectors: sums, maxima, transposition.
/// Include it, as simd.h, only in files that are compiled with -march=CONVOY_ARCH.
#pragma once

#include <cstdint>
#include <utility>

// Only if vectors are as wide as the intrinsics' (clang-tidy's are not).
#if defined(__AVX512F__) && __BIGGEST_ALIGNMENT__ == 64
#include <immintrin.h>
#endif

#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

/// Returns a vector whose lane i is lane i ^ distance of v.
template <int distance, int... i>
[[gnu::always_inline]] inline Vec exchanged(Vec v, std::integer_sequence<int, i...> /*lanes*/) {
  return __builtin_shufflevector(v, v, (i ^ distance)...);
}

/// Returns the sum of the lanes of v, ((v0 + v8) + (v4 + v12)) + ... for 16 lanes. The order is the same on every
/// processor with as many lanes.
template <int distance = int{kLanes} / 2>
[[gnu::always_inline]] inline float sum_of_lanes(Vec v) {
  if constexpr (distance == 0) {
    return v[0];
  } else {
    return sum_of_lanes<distance / 2>(v + exchanged<distance>(v, std::make_integer_sequence<int, int{kLanes}>{}));
  }
}

/// Returns the larger of a and b in each lane; b if one of the two is NaN.
[[gnu::always_inline]] inline Vec larger(Vec a, Vec b) {
#if defined(__AVX512F__) && __BIGGEST_ALIGNMENT__ == 64
  // GCC 12 makes a comparison and a selection of the expression below. draw_words_simd.h explains the mask.
  return _mm512_maskz_max_ps(0xffff, a, b);
#else
  return a > b ? a : b;
#endif
}
template <int distance = int{kLanes} / 2>
[[gnu::always_inline]] inline float max_of_lanes(Vec v) {
  if constexpr (distance == 0) {
    return v[0];
  } else {
    return max_of_lanes<distance / 2>(
        larger(v, exchanged<distance>(v, std::make_integer_sequence<int, int{kLanes}>{})));
  }
}

/// A step of transpose(), for two rows that are `distance` apart. In each group of 2 * distance lanes it exchanges the
/// second half of a with the first half of b.
template <int distance, int... i>
[[gnu::always_inline]] inline void exchange_halves(WordVec& a, WordVec& b, std::integer_sequence<int, i...> /*lanes*/) {
  const WordVec upper = __builtin_shufflevector(a, b, ((i & distance) != 0 ? int{kLanes} + i - distance : i)...);
  b = __builtin_shufflevector(a, b, ((i & distance) != 0 ? int{kLanes} + i : i + distance)...);
  a = upper;
}

/// Transposes a matrix of kLanes rows: lane j of row i becomes lane i of row j.
template <int distance = 1>
[[gnu::always_inline]] inline void transpose(WordVec (&rows)[kLanes]) {
  if constexpr (distance < kLanes) {
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      if ((i & distance) == 0)
        exchange_halves<distance>(rows[i], rows[i + distance], std::make_integer_sequence<int, int{kLanes}>{});
    }
    transpose<2 * distance>(rows);
  }
}

/// Returns words whose lower halves are a and whose upper halves are b: a0 b0 a1 b1 ... in memory.
[[gnu::always_inline]] inline WordVec zipped(HalfVec a, HalfVec b) {
  return __builtin_convertvector(a, WordVec) | __builtin_convertvector(b, WordVec) << 16;
}

}  // namespace convoy::ops::cpu
