/// Writes a shard sample by sample, before it is known which samples will be skipped and what the statistics of all
/// shards are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/io/sample_store.h"

namespace convoy::io {

/// The number of times that each byte occurs in each channel. It gives mean and standard deviation exactly, in any
/// order of the samples and in sums over ranks.
class ChannelCounts {
 public:
  explicit ChannelCounts(std::int64_t channels) : counts_(static_cast<std::size_t>(channels) * 256) {}

  /// Adds pixels (H,W,C): the channels vary fastest.
  void add(std::span<const std::uint8_t> pixels);
  /// Fills channel_mean and channel_stddev of `info`: mean = sum v / n, stddev = sqrt(sum (v - mean)^2 / n), v = byte /
  /// 255.
  void describe(DatasetInfo& info) const;
  /// The 256 counts of each channel; the caller may replace them by sums over several ranks.
  std::span<std::int64_t> values() { return counts_; }

 private:
  std::vector<std::int64_t> counts_;
};

/// Path of a shard, and its index among the shards of its split.
struct ShardLocation {
  std::string path;
  std::int64_t index = 0;
  std::int64_t num_shards = 1;
};

/// Writes one shard. `info` of the split gives image shape or tokenization, classes, source, and in num_samples the
/// maximal number of samples of this shard; counts and statistics follow at the end. Space for the head is reserved
/// before the body; if samples were skipped, the body moves down. All members throw Error. Until commit() there is only
/// a temporary file, which the destructor removes.
class ShardWriter {
 public:
  ShardWriter(const ShardLocation& location, const DatasetInfo& info);
  ~ShardWriter();
  ShardWriter(ShardWriter&&) noexcept;

  /// Appends a sample: H*W*C bytes of pixels, or an image file, or a text's tokens of as many bytes each as the
  /// vocabulary needs. Names are stored only if all samples have one.
  void append(std::span<const std::byte> sample, std::int32_t label, std::string_view name);
  std::int64_t num_samples() const;
  /// Ends the samples and writes their names. Keeps no descriptor open.
  void end_samples();
  /// Writes the head with class_counts, mean and standard deviation of the whole split in `info`, and brings the file
  /// to the disk.
  void finish(const DatasetInfo& info);
  /// Gives the file its name.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoy::io
