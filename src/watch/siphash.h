/// SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012): a hash of short messages that only
/// those can make who know the key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace convoy {

using SipKey = std::array<std::uint64_t, 2>;

/// The paper reads bytes as little-endian numbers, and so does this on the machines that convoy runs on.
std::uint64_t siphash(const SipKey& key, std::span<const std::byte> message);

}  // namespace convoy
