/// Writes and reads the integers in the trailers of Convoy's files: 64 bits, least significant byte first, on every
/// machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace convoy::io {

inline void put_u64(std::span<std::byte, 8> bytes, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) bytes[static_cast<std::size_t>(i)] = static_cast<std::byte>(value >> (8 * i));
}

inline std::uint64_t get_u64(std::span<const std::byte, 8> bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value |= std::to_integer<std::uint64_t>(bytes[static_cast<std::size_t>(i)]) << (8 * i);
  return value;
}

}  // namespace convoy::io
