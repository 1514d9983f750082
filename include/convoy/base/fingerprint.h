/// A number that stands for all values of a network: two networks with the same number are the same to the bit, but for
/// a chance of 2^-64. It is a sum over the values, so that ranks may add their parts in any order and cut them in any
/// way: the number does not depend on the layout. Of two networks that differ in one value it always differs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace convoy {

/// Neighbours in memory whose indices in the tensor, as files have it, are first, first + stride, first + 2 stride ...
struct FingerprintRun {
  std::span<const float> values;
  std::int64_t first = 0, stride = 1;
};

/// What these values of a tensor add, modulo 2^64: the sum of mix(name, index, bits). -0 and 0 differ, as do all NaNs.
/// mix is the finaliser of SplitMix64 (Steele, Lea & Flood 2014), a bijection: a value that changes changes the sum.
/// `name`: hash_name() of the tensor's (random.h).
std::uint64_t fingerprint_part(std::uint64_t name, const FingerprintRun& run);

/// 16 hexadecimal digits.
std::string fingerprint_text(std::uint64_t fingerprint);

}  // namespace convoy
