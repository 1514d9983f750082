/// Adds one value after the other, with two multiplications each.
#include "convoy/base/fingerprint.h"

#include <bit>

#include <fmt/core.h>

namespace convoy {

namespace {

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

// Indices and bits are spread by odd factors before they meet, so that neither can undo the other's change.
std::uint64_t fingerprint_part(std::uint64_t name, const FingerprintRun& run) {
  constexpr std::uint64_t kIndex = 0x9e3779b97f4a7c15U, kBits = 0xd1342543de82ef95U;
  const std::uint64_t step = static_cast<std::uint64_t>(run.stride) * kIndex;
  std::uint64_t index = name + static_cast<std::uint64_t>(run.first) * kIndex, sum = 0;
  for (const float value : run.values) {
    sum += mix(index ^ (std::bit_cast<std::uint32_t>(value) * kBits));
    index += step;
  }
  return sum;
}

std::string fingerprint_text(std::uint64_t fingerprint) {
  return fmt::format("{:016x}", fingerprint);
}

}  // namespace convoy
