/// One file of a data set: its layout on disk, written and read without HDF5 ever touching the disk.
///
///   [ head: HDF5's metadata, /labels, /offsets ...  ][ body: /images or /encoded, then /names ][ trailer, 64 bytes ]
///
/// The trailer: "CONVOYDS", format, offset and size of the body (little-endian 64 bits each), XXH3-128 of the body,
/// XXH3-128 of the head and of the trailer so far. The head is small (12 or 20 bytes per sample), so it is read and
/// verified whole at each start. HDF5 then opens it in memory, with the body as a hole. So HDF5 sees no byte that was
/// not verified, needs no locks of a file system that may have none, and cannot meet a full disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/file_descriptor.h"
#include "convoy/io/sample_store.h"

#include "io/hash.h"

namespace convoy::io {

inline constexpr std::size_t kShardTrailerBytes = 64;

/// The content of a shard without its body.
struct ShardHead {
  DatasetInfo info;  ///< num_samples is that of this shard
  std::int64_t index = 0;
  std::int64_t num_shards = 1;  ///< of its import
  std::vector<std::int32_t> labels;
  std::vector<std::uint64_t> hashes;  ///< short_hash_of() each sample's bytes in the payload
  std::vector<std::int64_t> offsets;  ///< of each sample's first value, and the end of the last; raw: empty
  std::int64_t name_bytes = 0;        ///< of each name in /names, padded with 0; 0: no names

  std::int64_t payload_bytes() const;
};

/// The HDF5 data set that holds the samples: /images, /encoded or /tokens.
struct PayloadLayout {
  const char* name = "images";
  std::int64_t value_bytes = 1;  ///< of a token 2 if all tokens of the vocabulary fit, else 4
  bool has_offsets = false;      ///< whether samples differ in size
};
PayloadLayout payload_layout(const DatasetInfo& info);

struct ShardTrailer {
  std::uint64_t body_offset = 0;  ///< also the size of the head
  std::uint64_t body_bytes = 0;
  Hash body_hash = {};
};

/// Returns the bytes before the body: an HDF5 file that lacks only the body. Their number depends on the number of
/// samples, classes and channels, on the vocabulary and on the longest name of a class, not on the body's content.
std::vector<std::byte> encode_shard_head(const ShardHead& head);
std::vector<std::byte> encode_shard_trailer(const ShardTrailer& trailer, std::span<const std::byte> head);

/// A shard whose head is verified. The payload is at the start of the body, the names at its end.
struct OpenShard {
  FileDescriptor file;
  ShardTrailer trailer;
  ShardHead head;
};

/// Opens a shard and verifies its head. Throws Error saying what is wrong with the file ("it is ..."), or that it
/// cannot be opened.
OpenShard open_shard(const std::string& path);

/// Reads the whole body; returns the reason if its hash differs.
std::optional<std::string> find_damage_in_body(const OpenShard& shard, const std::string& path);

}  // namespace convoy::io
