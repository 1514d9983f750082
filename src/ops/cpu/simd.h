/// Vectors of floats, in the notation of GCC and Clang, as wide as the processor's, and functions that load them from
/// memory in a storage type and store them.
/// Include it only in files that are compiled with -march=CONVOY_ARCH. All functions are inlined, so that no other file
/// calls code that uses these instructions.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ops/cpu/storage.h"

namespace convoy::ops::cpu {

/// The size in bytes of the widest vectors that this file is compiled for. (The compiler could split wider vectors, but
/// GCC 12 then computes comparisons one value at a time.) As long as each sum stays in its lane, no bit of a result
/// depends on this size.
inline constexpr std::int64_t kVectorBytes = __BIGGEST_ALIGNMENT__;
inline constexpr std::int64_t kLanes = kVectorBytes / 4;

using Vec = float __attribute__((vector_size(kVectorBytes)));
using IntVec = std::int32_t __attribute__((vector_size(kVectorBytes)));
using WordVec = std::uint32_t __attribute__((vector_size(kVectorBytes)));
using HalfVec = std::uint16_t __attribute__((vector_size(kVectorBytes / 2)));
using PairVec = std::uint16_t __attribute__((vector_size(kVectorBytes)));
using ByteVec = std::uint8_t __attribute__((vector_size(kVectorBytes / 4)));
using HalfRow = std::uint8_t __attribute__((vector_size(kVectorBytes / 2)));
using ByteRow = std::uint8_t __attribute__((vector_size(kVectorBytes)));

// Vector types for reading and writing arrays in memory. They need only the alignment of a single value.
using VecAt = float __attribute__((vector_size(kVectorBytes), may_alias, aligned(4)));
using HalfVecAt = std::uint16_t __attribute__((vector_size(kVectorBytes / 2), may_alias, aligned(2)));
using HalfRowAt = std::uint8_t __attribute__((vector_size(kVectorBytes / 2), may_alias, aligned(1)));
using ByteRowAt = std::uint8_t __attribute__((vector_size(kVectorBytes), may_alias, aligned(1)));
using BytesAt = std::uint8_t __attribute__((vector_size(kVectorBytes / 4), may_alias, aligned(1)));

/// Converts bf16 values to floats. It shuffles halves of 16 bits, since GCC 12 would take more instructions.
template <int... i>
[[gnu::always_inline]] inline Vec widened(HalfVec halves, std::integer_sequence<int, i...> /*indices*/) {
  return std::bit_cast<Vec>(__builtin_shufflevector(HalfVec{}, halves, (i % 2 == 0 ? 0 : int{kLanes} + i / 2)...));
}
[[gnu::always_inline]] inline Vec widened(HalfVec halves) {
  return widened(halves, std::make_integer_sequence<int, 2 * kLanes>{});
}
template <int... i>
[[gnu::always_inline]] inline HalfVec upper_halves(WordVec words, std::integer_sequence<int, i...> /*indices*/) {
  const auto halves = std::bit_cast<PairVec>(words);
  return __builtin_shufflevector(halves, halves, (2 * i + 1)...);
}
[[gnu::always_inline]] inline HalfVec upper_halves(WordVec words) {
  return upper_halves(words, std::make_integer_sequence<int, kLanes>{});
}
/// Returns v rounded to bf16 (to nearest, ties to even), in the upper half of each word; the lower halves have no
/// meaning. NaN becomes all ones.
[[gnu::always_inline]] inline WordVec nearest_bf16(Vec v) {
  const auto bits = std::bit_cast<WordVec>(v);
  const WordVec nearest = bits + 0x7fffu + (bits >> 16 & 1u), is_nan = std::bit_cast<WordVec>(v != v);
  return nearest | is_nan;
}
[[gnu::always_inline]] inline HalfVec rounded_to_bf16(Vec v) {
  return upper_halves(nearest_bf16(v));
}

/// Returns max(0, v), never -0; NaN if v is NaN.
[[gnu::always_inline]] inline Vec relu(Vec v) {
  return 0.0f >= v ? Vec{} : v;
}
[[gnu::always_inline]] inline float relu(float v) {
  return 0.0f >= v ? 0.0f : v;
}

/// Returns ((v[0] + v[1]) + (v[2] + v[3])) + ...: short chains of additions, for speed and accuracy. `count` is a power
/// of two.
template <int count>
[[gnu::always_inline]] inline Vec pairwise_sum(const Vec* v) {
  if constexpr (count == 1) {
    return v[0];
  } else {
    return pairwise_sum<count / 2>(v) + pairwise_sum<count / 2>(v + count / 2);
  }
}

/// Reads one value (V is float) or a vector of values (V is Vec) of type T, as float32. A vector needs only the
/// alignment of a single value.
template <typename V, typename T>
[[gnu::always_inline]] inline V read(const T* p) {
  if constexpr (std::is_same_v<V, float>) {
    return to_float(*p);
  } else if constexpr (std::is_same_v<T, float>) {
    return *reinterpret_cast<const VecAt*>(p);
  } else {
    return widened(*reinterpret_cast<const HalfVecAt*>(p));
  }
}
template <typename T>
[[gnu::always_inline]] inline void write(T* p, float v) {
  *p = rounded_to<T>(v);
}
[[gnu::always_inline]] inline void write(float* p, Vec v) {
  *reinterpret_cast<VecAt*>(p) = v;
}
[[gnu::always_inline]] inline void write(Bf16* p, Vec v) {
  *reinterpret_cast<HalfVecAt*>(p) = rounded_to_bf16(v);
}

/// Returns v rounded to T: the value that is read after v has been written as T.
template <typename T>
[[gnu::always_inline]] inline float as_stored(float v) {
  return to_float(rounded_to<T>(v));
}
template <typename T>
[[gnu::always_inline]] inline Vec as_stored(Vec v) {
  if constexpr (std::is_same_v<T, float>) {
    return v;
  } else {
    return std::bit_cast<Vec>(nearest_bf16(v) & 0xffff0000u);
  }
}

/// Writes v without rounding. v must be a value of the type that is written: it was read as that type, or as_stored()
/// returned it.
[[gnu::always_inline]] inline void write_exact(float* p, Vec v) {
  write(p, v);
}
[[gnu::always_inline]] inline void write_exact(Bf16* p, Vec v) {
  *reinterpret_cast<HalfVecAt*>(p) = upper_halves(std::bit_cast<WordVec>(v));
}
template <typename T>
[[gnu::always_inline]] inline void write_exact(T* p, float v) {
  write(p, v);
}

/// Reads one byte, or as many bytes as V has lanes, as 32-bit integers. It widens them to 16 bits first, since GCC 12
/// widens bytes to 32 bits one value at a time.
template <typename V>
[[gnu::always_inline]] inline auto read_bytes(const std::uint8_t* p) {
  if constexpr (std::is_same_v<V, float>) {
    return std::int32_t{*p};
  } else {
    return __builtin_convertvector(__builtin_convertvector(ByteVec(*reinterpret_cast<const BytesAt*>(p)), HalfVec),
                                   IntVec);
  }
}

/// The factor in the results of spread(): each 32-bit value is this number times a byte.
inline constexpr std::int32_t kOfEachByte = 0x01010101;
/// Returns quarter `index` of a vector of bytes as 32-bit values, each byte repeated in all four bytes of its value.
/// That is one shuffle, while GCC 12 takes nine instructions to widen bytes.
template <int index, int... i>
[[gnu::always_inline]] inline IntVec spread(ByteRow bytes, std::integer_sequence<int, i...> /*indices*/) {
  return std::bit_cast<IntVec>(__builtin_shufflevector(bytes, bytes, (index * int{kLanes} + i / 4)...));
}
template <int index>
[[gnu::always_inline]] inline IntVec spread(ByteRow bytes) {
  return spread<index>(bytes, std::make_integer_sequence<int, kVectorBytes>{});
}

[[gnu::always_inline]] inline void write_bytes(std::uint8_t* p, std::int32_t v) {
  *p = static_cast<std::uint8_t>(v);
}
[[gnu::always_inline]] inline void write_bytes(std::uint8_t* p, IntVec v) {
  *reinterpret_cast<BytesAt*>(p) = __builtin_convertvector(__builtin_convertvector(v, HalfVec), ByteVec);
}
[[gnu::always_inline]] inline void write_bytes(std::uint8_t* p, WordVec v) {
  write_bytes(p, std::bit_cast<IntVec>(v));
}
[[gnu::always_inline]] inline void write_bytes(std::uint8_t* p, PairVec v) {
  *reinterpret_cast<HalfRowAt*>(p) = __builtin_convertvector(v, HalfRow);
}

/// Calls body(i, V{}) for the indices in [begin, end): first with V = Vec for each kLanes indices from i on, then with
/// V = float for each single index that is left.
template <typename Body>
[[gnu::always_inline]] inline void for_lanes(std::int64_t begin, std::int64_t end, Body&& body) {
  std::int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) body(i, Vec{});
  for (; i < end; ++i) body(i, 0.0f);
}

}  // namespace convoy::ops::cpu
