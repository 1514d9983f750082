/// Vectors of 16 floats in the compiler's own notation, which it lowers to whatever the processor has.
/// Only for files compiled with -march=CONVOY_ARCH: everything is inlined, so that no other file's code runs on these
/// instructions.
#pragma once

#include <cstdint>

namespace convoy::ops::cpu {

inline constexpr std::int64_t kLanes = 16;

using Vec = float __attribute__((vector_size(64)));
using IntVec = std::int32_t __attribute__((vector_size(64)));
using ByteVec = std::uint8_t __attribute__((vector_size(16)));

// How floats and bytes in memory are read and written as vectors, aligned or not.
using VecAt = float __attribute__((vector_size(64), may_alias));
using LooseVecAt = float __attribute__((vector_size(64), may_alias, aligned(4)));
using LooseBytesAt = std::uint8_t __attribute__((vector_size(16), may_alias, aligned(1)));

/// 64-byte aligned.
[[gnu::always_inline]] inline Vec load(const float* p) {
  return *reinterpret_cast<const VecAt*>(p);
}
[[gnu::always_inline]] inline void store(float* p, Vec v) {
  *reinterpret_cast<VecAt*>(p) = v;
}

/// Any float's alignment.
[[gnu::always_inline]] inline Vec load_loose(const float* p) {
  return *reinterpret_cast<const LooseVecAt*>(p);
}
[[gnu::always_inline]] inline void store_loose(float* p, Vec v) {
  *reinterpret_cast<LooseVecAt*>(p) = v;
}

/// max(0, v), and NaN where v is NaN.
[[gnu::always_inline]] inline Vec relu(Vec v) {
  return 0.0f > v ? Vec{} : v;
}
[[gnu::always_inline]] inline float relu(float v) {
  return 0.0f > v ? 0.0f : v;
}

/// ((v0 + v1) + (v2 + v3)) + ...: short chains of additions, for speed and accuracy. count: a power of two.
template <int count>
[[gnu::always_inline]] inline Vec pairwise_sum(const Vec* v) {
  if constexpr (count == 1) {
    return v[0];
  } else {
    return pairwise_sum<count / 2>(v) + pairwise_sum<count / 2>(v + count / 2);
  }
}

}  // namespace convoy::ops::cpu
