/// The number that a 32-bit word adds to a checksum, for the code of every device.
#pragma once

#include <cstdint>

#include "ops/formula.h"

namespace convoy::ops {

/// Returns what the 32-bit word at `index` adds to a checksum. For each index this is an injective function of the
/// word, so a change of one word always changes the checksum. The last lines are the finaliser of SplitMix64 (Steele,
/// Lea & Flood 2014). Index and word are first multiplied by odd factors, so that a change of one cannot undo that of
/// the other.
CONVOY_FORMULA std::uint64_t checksum_of(std::int64_t index, std::uint32_t word) {
  std::uint64_t x = (static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15U) ^ (word * 0xd1342543de82ef95U);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// Returns the 32-bit word at `index` of data with size_bytes bytes. Missing bytes of the last word are zeros.
CONVOY_FORMULA std::uint32_t word_at(const unsigned char* data, std::int64_t size_bytes, std::int64_t index) {
  std::uint32_t word = 0;
  for (std::int64_t k = 0; k < 4 && 4 * index + k < size_bytes; ++k)
    word |= static_cast<std::uint32_t>(data[4 * index + k]) << (8 * k);
  return word;
}

}  // namespace convoy::ops
