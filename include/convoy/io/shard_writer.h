/// A shard written sample by sample, before it is known which samples will be skipped and what the statistics of all
/// shards are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/io/dataset.h"

namespace convoy::io {

/// How often each byte occurs in each channel: says mean and stddev exactly, in any order of the samples and in sums
/// over ranks.
class ChannelCounts {
 public:
  explicit ChannelCounts(std::int64_t channels) : counts_(static_cast<std::size_t>(channels) * 256) {}

  /// Pixels of all channels, which vary fastest.
  void add(std::span<const std::uint8_t> pixels);
  /// mean = sum v / n, deviation = sqrt(sum (v - mean)^2 / n), v = byte / 255.
  void describe(DatasetInfo& info) const;
  /// 256 counts per channel; sums of those of several ranks may replace them.
  std::span<std::int64_t> values() { return counts_; }

 private:
  std::vector<std::int64_t> counts_;
};

/// Which shard it is, of a split's.
struct ShardLocation {
  std::string path;
  std::int64_t index = 0;
  std::int64_t num_shards = 1;
};

/// The split's `info` says image shape or tokenization, classes, source, and as num_samples how many at most this shard
/// takes; counts and statistics are given at the end. What stands before the images keeps its position; where samples
/// were skipped, the images move down. All members throw Error. Until commit() only a temporary file is there;
/// destroyed, it is gone.
class ShardWriter {
 public:
  ShardWriter(const ShardLocation& location, const DatasetInfo& info);
  ~ShardWriter();
  ShardWriter(ShardWriter&&) noexcept;

  /// H*W*C bytes of pixels, or a file's, or a text's tokens of as many bytes as the vocabulary needs. Names are kept
  /// where the first sample has one.
  void append(std::span<const std::byte> sample, std::int32_t label, std::string_view name);
  std::int64_t num_samples() const;
  /// All samples are there. Keeps no descriptor open.
  void end_samples();
  /// With class_counts, mean and stddev of the whole split; brings the file to the disk.
  void finish(const DatasetInfo& info);
  /// Gives the file its name.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoy::io
