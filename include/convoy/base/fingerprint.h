/// Computes a 64-bit number from all values of a network, its fingerprint: two networks with the same number are equal
/// to the bit, except with a probability of 2^-64. It is a sum over the values, so ranks may add their parts in any
/// order and divide them in any way: the number does not depend on the layout. Two networks that differ in one value
/// only always have different numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace convoy {

/// A run of values that are next to each other in memory. Their indices in the tensor, in the order of files, are
/// first, first + stride, first + 2 stride ...
struct FingerprintRun {
  std::span<const float> values;
  std::int64_t first = 0, stride = 1;
};

/// Returns the part of a fingerprint that these values of a tensor add to it, modulo 2^64: the sum of mix(name, index,
/// bits) over the values. -0 and 0 differ, as do all NaNs. mix is the finaliser of SplitMix64 (Steele, Lea & Flood
/// 2014), a bijection: if one value changes, the sum changes. `name` is hash_name() of the tensor's name (random.h).
std::uint64_t fingerprint_part(std::uint64_t name, const FingerprintRun& run);

/// Returns the fingerprint as 16 hexadecimal digits.
std::string fingerprint_text(std::uint64_t fingerprint);

}  // namespace convoy
