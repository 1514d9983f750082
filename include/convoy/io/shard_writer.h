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

/// Counts how often each byte value occurs in each channel. The mean and standard deviation that follow are exact, and
/// do not depend on the order of the samples or on the ranks that counted them.
class ChannelCounts {
 public:
  explicit ChannelCounts(std::int64_t channels) : counts_(static_cast<std::size_t>(channels) * 256) {}

  /// Counts the pixels (H,W,C) of an image; channels vary fastest.
  void add(std::span<const std::uint8_t> pixels);
  /// Sets channel_mean and channel_stddev of `info`: mean = sum v / n, stddev = sqrt(sum (v - mean)^2 / n), v = byte /
  /// 255.
  void describe(DatasetInfo& info) const;
  /// The 256 counts of each channel; the caller may replace them by sums over several ranks.
  std::span<std::int64_t> values() { return counts_; }

 private:
  std::vector<std::int64_t> counts_;
};

/// The path of a shard, its index among the shards of its split, and their number.
struct ShardLocation {
  std::string path;
  std::int64_t index = 0;
  std::int64_t num_shards = 1;
};

/// What is known about a sample: its class, or its labels or numbers.
struct SampleAnswer {
  std::int32_t label = -1;  ///< only if the target is a class
  /// (K) labels, 0 or 1, or finite numbers; NaN: not known. Empty for a target that is in the record.
  std::span<const float> target = {};
  std::int64_t fold = 0;  ///< from 1 to DatasetInfo::num_folds; 0 if there are none
};

/// Writes one shard. The constructor takes from `info` the form of samples and targets, the classes, the number of
/// folds and the source, and the maximal number of samples of this shard (num_samples); finish() takes the counts and
/// statistics. Space for the head is reserved before the samples; if samples were skipped, they are moved to follow the
/// shorter head. All members throw Error. Until commit() there is only a temporary file, which the destructor removes.
class ShardWriter {
 public:
  ShardWriter(const ShardLocation& location, const DatasetInfo& info);
  ~ShardWriter();
  ShardWriter(ShardWriter&&) noexcept;

  /// Appends a sample: H*W*C bytes of pixels, the bytes of an image file, the tokens of a text with 2 or 4 bytes each,
  /// as the vocabulary needs, or the record of arrays (DatasetInfo::record()). Names are stored only if all samples
  /// have one.
  void append(std::span<const std::byte> sample, const SampleAnswer& answer, std::string_view name);
  std::int64_t num_samples() const;
  /// Ends the samples and writes their names. Closes the file descriptor.
  void end_samples();
  /// Writes the head with class_counts, means and standard deviations (of channels, arrays, targets and folds) from
  /// `info`, which describes the whole split, and flushes the file to the disk.
  void finish(const DatasetInfo& info);
  /// Renames the file to its final name.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoy::io
