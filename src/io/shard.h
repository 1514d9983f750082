/// The format of a shard, one file of a data set. HDF5 only encodes and decodes its head in memory; Convoy itself reads
/// and writes the file:
///
///   [ head: HDF5's metadata, /labels ... ][ body: /images, /encoded, /tokens or /samples, then /names ][ trailer ]
///
/// The trailer has "CONVOYDS", the format's number, offset and size of the body (64 bits each, little-endian), the
/// XXH3-128 of the body, and the XXH3-128 of the head and of the trailer before it. The head has the label or targets,
/// the hashes and the fold of each sample, so it is small: it is read and verified as a whole at each start. HDF5 then
/// opens it in memory, with zeros in place of the body. So HDF5 reads no byte that was not verified, needs no file
/// locks, which some file systems lack, and cannot meet a full disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/file_descriptor.h"
#include "convoy/io/sample_store.h"

#include "io/hash.h"

namespace convoy::io {

inline constexpr std::size_t kShardTrailerBytes = 64;
inline constexpr std::string_view kShardMagic = "CONVOYDS";  ///< the trailer's first bytes

/// The content of a shard without its body.
struct ShardHead {
  DatasetInfo info;                  ///< properties of the data set, but num_samples is that of this shard
  std::int64_t index = 0;            ///< index of the shard among those of its split
  std::int64_t num_shards = 1;       ///< number of shards of its split
  std::vector<std::int32_t> labels;  ///< label of each sample; empty if the target is not a class
  /// (N,K) labels or numbers; NaN: not known. Empty if the target is a class, or in the records.
  std::vector<float> targets;
  std::vector<std::uint64_t> hashes;  ///< (N,P) short_hash_of() the bytes of each sample, or of each of its P arrays
  std::vector<std::uint16_t> folds;   ///< fold of each sample, from 1; empty if there are none
  /// Offset of each sample's first value among all values of the shard, and at last their number. Empty if all samples
  /// have the same size (pixels).
  std::vector<std::int64_t> offsets;
  std::int64_t name_bytes = 0;  ///< size in bytes of each name in /names, padded with bytes 0; 0: there are no names

  std::int64_t payload_bytes() const;  ///< size in bytes of all samples of the shard
  /// Returns what `values`, one of labels, targets, hashes and folds, has of a sample of the shard; nothing if it is
  /// empty.
  template <typename T>
  std::span<const T> of_sample(const std::vector<T>& values, std::size_t sample) const {
    const std::size_t count = values.size() / static_cast<std::size_t>(info.num_samples);
    return std::span(values).subspan(sample * count, count);
  }
};

/// The HDF5 data set of a shard that has the samples: /images, /encoded, /tokens or /samples.
struct PayloadLayout {
  const char* name = "images";
  /// Size of a value in bytes; for tokens 2 if the whole vocabulary fits, else 4; for arrays that of a record.
  std::int64_t value_bytes = 1;
  bool has_offsets = false;  ///< whether samples differ in size, so that ShardHead::offsets is needed
};
PayloadLayout payload_layout(const DatasetInfo& info);
/// Number of hashes of each sample: one per array, and one of a target in the record.
std::size_t num_parts(const DatasetInfo& info);

struct ShardTrailer {
  std::uint64_t body_offset = 0;  ///< offset of the body in the file, in bytes, which is the size of the head
  std::uint64_t body_bytes = 0;
  Hash body_hash = {};
};

/// Returns the bytes of a shard before its body: an HDF5 file that lacks only the body. Their number depends on the
/// numbers of samples, classes and channels, on the vocabulary and on the longest name of a class, but not on the
/// body's content.
std::vector<std::byte> encode_shard_head(const ShardHead& head);
/// Returns the trailer of a shard with the given encoded head.
std::vector<std::byte> encode_shard_trailer(const ShardTrailer& trailer, std::span<const std::byte> head);

/// An open shard whose head has been verified. The body begins with the samples and ends with their names.
struct OpenShard {
  FileDescriptor file;
  ShardTrailer trailer;
  ShardHead head;
};

/// Opens a shard and verifies its head. Throws Error if the file is damaged ("it is ...") or cannot be opened.
OpenShard open_shard(const std::string& path);

/// Reads the whole body and compares its hash with the trailer's. Returns a description of the damage if they differ;
/// else nothing. Throws Error, naming `path`, if the file cannot be read or is too short.
std::optional<std::string> find_damage_in_body(const OpenShard& shard, const std::string& path);

}  // namespace convoy::io
