/// A 64-bit number computed from all values of a network: two networks with the same number are the same to the bit,
/// except with a probability of 2^-64. It is a sum over the values, so that ranks may add their parts in any order and
/// cut them in any way: the number does not depend on the layout. It always differs for two networks that differ in one
/// value only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace convoy {

/// Values next to each other in memory. Their indices in the tensor, in the order of files, are first, first + stride,
/// first + 2 stride ...
struct FingerprintRun {
  std::span<const float> values;
  std::int64_t first = 0, stride = 1;
};

/// The summand of these values of a tensor, modulo 2^64: the sum of mix(name, index, bits). -0 and 0 differ, as do all
/// NaNs. mix is the finaliser of SplitMix64 (Steele, Lea & Flood 2014), a bijection: if one value changes, the sum
/// changes. `name` is hash_name() of the tensor's name (random.h).
std::uint64_t fingerprint_part(std::uint64_t name, const FingerprintRun& run);

/// The fingerprint as 16 hexadecimal digits.
std::string fingerprint_text(std::uint64_t fingerprint);

}  // namespace convoy
