/// XXH3-128, the hash that stands at the end of every file of ours, in its canonical (big-endian) bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace convoy::io {

using Hash = std::array<std::byte, 16>;

/// For what is not in memory at once.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void update(std::span<const std::byte> bytes);
  /// Of all bytes so far.
  Hash digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Hash hash_of(std::span<const std::byte> bytes);

/// XXH3-64: what is kept for each sample of a data set.
std::uint64_t short_hash_of(std::span<const std::byte> bytes);

}  // namespace convoy::io
