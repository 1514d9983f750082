/// Data sets as HDF5 shards: /images (uint8, N,H,W,C, contiguous), /labels (int32, N), and as attributes of the file
/// the class names, the mean and deviation of each channel (of values in [0, 1]) and where the images came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/base/shape.h"

namespace convoy::io {

/// What all shards of a split agree on.
struct DatasetInfo {
  ImageShape image;                       ///< H, W, C
  std::int64_t num_samples = 0;           ///< over all shards
  std::vector<std::string> class_names;   ///< labels are their positions
  std::vector<double> channel_mean;       ///< (C) of values / 255
  std::vector<double> channel_deviation;  ///< (C)
  std::string source;                     ///< what was imported
};

/// Samples in memory, ready to be written as shards.
struct DatasetContent {
  DatasetInfo info;
  std::vector<std::uint8_t> images;  ///< (N,H,W,C)
  std::vector<std::int32_t> labels;  ///< (N)
};

/// Writes `num_shards` files: DIRECTORY/NAME.h5, or NAME-000.h5 ... where there are several; near equal, in order.
/// Each is written under a temporary name and renamed when complete; earlier files NAME*.h5 of another shard count are
/// removed. Mean and deviation are computed here, from all the images. Returns the paths. Throws Error (disk full,
/// not writable) leaving no partial file under a final name.
std::vector<std::string> write_dataset(const std::string& directory, const std::string& name, int num_shards,
                                       DatasetContent& content);

/// A split opened for reading: all its shards, mapped into memory; any sample at any time from any thread.
class Dataset {
 public:
  /// `path`: a shard, or a prefix such as data/fashion/train for train.h5 or train-000.h5, train-001.h5 ...
  /// `key` (data.train, data.test) stands in the messages. Throws RequestError naming key, file and what is wrong:
  /// missing, not HDF5, truncated, a dataset absent or of another type or rank, labels out of range, shards that
  /// disagree in image shape or classes, a gap in the numbering, no samples.
  Dataset(const std::string& path, const std::string& key);
  ~Dataset();
  Dataset(Dataset&&) noexcept;
  Dataset& operator=(Dataset&&) noexcept;

  const DatasetInfo& info() const { return info_; }
  /// H*W*C bytes; sample in [0, info().num_samples).
  const std::uint8_t* image(std::int64_t sample) const;
  std::int32_t label(std::int64_t sample) const;

 private:
  struct Shard;
  DatasetInfo info_;
  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace convoy::io
