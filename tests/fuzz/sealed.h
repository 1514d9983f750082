/// Files whose hashes are right: a reader that verifies them first reads on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "io/hash.h"
#include "io/little_endian.h"
#include "io/shard.h"

namespace convoy::fuzz {

/// The file with a trailer that fits, in place of its own where it has one.
inline std::vector<std::byte> seal_checkpoint(std::vector<std::byte> file) {
  constexpr std::string_view kMagic = "CONVOYCK";
  constexpr std::size_t kTrailerBytes = 32;
  if (file.size() >= kTrailerBytes &&
      std::memcmp(file.data() + file.size() - kTrailerBytes, kMagic.data(), kMagic.size()) == 0)
    file.resize(file.size() - kTrailerBytes);
  const std::size_t size = file.size();
  const io::Hash hash = io::hash_of(file);
  file.resize(size + kTrailerBytes);
  const auto trailer = std::span(file).last<kTrailerBytes>();
  std::memcpy(trailer.data(), kMagic.data(), kMagic.size());
  io::put_u64(trailer.subspan<8, 8>(), size);
  std::ranges::copy(hash, trailer.begin() + 16);
  return file;
}

/// The shard with a trailer that fits: where the body begins is what its own says, or the whole is head.
inline std::vector<std::byte> seal_shard(std::vector<std::byte> file) {
  if (file.size() < io::kShardTrailerBytes) file.resize(io::kShardTrailerBytes);
  const std::size_t size = file.size() - io::kShardTrailerBytes;
  const std::span<const std::byte, io::kShardTrailerBytes> old(file.data() + size, io::kShardTrailerBytes);
  io::ShardTrailer trailer;
  trailer.body_offset = std::min<std::uint64_t>(io::get_u64(old.subspan<16, 8>()), size);
  trailer.body_bytes = size - trailer.body_offset;
  std::copy_n(old.begin() + 32, sizeof(io::Hash), trailer.body_hash.begin());
  const std::vector<std::byte> sealed =
      io::encode_shard_trailer(trailer, std::span<const std::byte>(file).first(trailer.body_offset));
  std::ranges::copy(sealed, file.end() - io::kShardTrailerBytes);
  return file;
}

}  // namespace convoy::fuzz
