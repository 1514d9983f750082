/// Makes files whose hashes are correct, so that a reader that verifies them first continues to read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "io/hash.h"
#include "io/little_endian.h"
#include "io/shard.h"
#include "io/trailer.h"

namespace convoy::fuzz {

/// Returns the file with a correct trailer, of its kind, or of a whole checkpoint.
inline std::vector<std::byte> seal_checkpoint(std::vector<std::byte> file) {
  std::string_view magic = io::magic::kCheckpoint;
  for (const std::string_view own : {io::magic::kCheckpoint, io::magic::kCheckpointOfParts, io::magic::kPart}) {
    if (!io::ends_with(file, own)) continue;
    magic = own;
    file.resize(file.size() - io::kTrailerBytes);
    break;
  }
  io::append_trailer(file, magic);
  return file;
}

/// Returns the shard with a correct trailer. The body begins where its own trailer says; otherwise all of it is head.
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
