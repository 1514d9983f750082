/// SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012): a keyed hash of short messages.
/// Without the key it cannot be computed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace convoy {

using SipKey = std::array<std::uint64_t, 2>;

/// Returns the hash. The paper reads bytes as little-endian numbers; the code compiles only for little-endian
/// processors.
std::uint64_t siphash(const SipKey& key, std::span<const std::byte> message);

}  // namespace convoy
