/// XXH3-128, the hash at the end of every file that Convoy writes, in its canonical (big-endian) bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace convoy::io {

using Hash = std::array<std::byte, 16>;

/// Computes the hash of bytes that are not all in memory at once.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void update(std::span<const std::byte> bytes);
  /// The hash of all bytes so far.
  Hash digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Hash hash_of(std::span<const std::byte> bytes);

/// XXH3-64, the hash that data sets store for each sample.
std::uint64_t short_hash_of(std::span<const std::byte> bytes);

}  // namespace convoy::io
