/// The hash functions XXH3-128, for the hash at the end of Convoy's files, and XXH3-64.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace convoy::io {

/// A hash by XXH3-128, in its canonical (big-endian) byte order.
using Hash = std::array<std::byte, 16>;

/// Computes the XXH3-128 of bytes that are given piece by piece.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void update(std::span<const std::byte> bytes);
  /// Returns the hash of all bytes that were given to update().
  Hash digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns the XXH3-128 of the bytes.
Hash hash_of(std::span<const std::byte> bytes);

/// Returns the XXH3-64 of the bytes, which data sets store for each sample.
std::uint64_t short_hash_of(std::span<const std::byte> bytes);

}  // namespace convoy::io
