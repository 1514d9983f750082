/// XXH3-128, of all bytes at once or piece by piece.
#include "io/hash.h"

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace convoy::io {

struct Hasher::State {
  XXH3_state_t xxh;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->xxh);
}
Hasher::~Hasher() = default;

void Hasher::update(std::span<const std::byte> bytes) {
  XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

Hash Hasher::digest() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state_->xxh));
  Hash hash;
  static_assert(sizeof canonical.digest == sizeof hash);
  std::memcpy(hash.data(), canonical.digest, hash.size());
  return hash;
}

Hash hash_of(std::span<const std::byte> bytes) {
  Hasher hasher;
  hasher.update(bytes);
  return hasher.digest();
}

std::uint64_t short_hash_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace convoy::io
