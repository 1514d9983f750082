/// Where a loader finds its samples: a data set of Convoy's, or a folder of image files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/shape.h"
#include "convoy/io/tokenization.h"

namespace convoy::io {

/// Of a store of texts.
struct TextInfo {
  Tokenization tokenization;    ///< of all its texts
  ColumnNames columns = {};     ///< of the tables that it was imported from
  std::int64_t num_tokens = 0;  ///< of all texts together, over all shards

  bool operator==(const TextInfo&) const = default;
};

/// What all shards of a split agree on; of a folder of images what is known of it.
struct DatasetInfo {
  std::string kind = input_kinds::kImages;  ///< of input
  ImageShape image;                         ///< H, W, C; encoded: 0, 0, C, as each image has a size of its own
  bool encoded = false;                     ///< files as they were, decoded when they are loaded; else pixels
  bool oriented = false;                 ///< upright, as Exif says: pixels were turned, files are when they are decoded
  std::int64_t num_samples = 0;          ///< over all shards
  std::vector<std::string> class_names;  ///< labels are their positions
  std::vector<std::int64_t> class_counts;  ///< samples of each class, over the shards opened; empty for a folder
  std::vector<double> channel_mean;        ///< (C) of values / 255, over all pixels; empty for a folder
  std::vector<double> channel_stddev;      ///< (C); likewise
  TextInfo text;                           ///< where `kind` is text: then nothing is said of images
  std::string source;                      ///< what was imported; the folder
};

/// "2 of 10 classes have no sample: cat, dog"; empty where all have some, or the counts are not known.
std::string describe_empty_classes(const DatasetInfo& info);

/// The store's files are not what they were when it was opened: one was cut short, overwritten, or cannot be read. No
/// image is at fault, and none that is still to come can be trusted. Names the file and what to do.
class StoreError : public Error {
 public:
  using Error::Error;
};

/// A store has what its kind of samples needs; asked for another's it throws Error. All members may be called from any
/// thread; `sample` in [0, info().num_samples).
class SampleStore {
 public:
  virtual ~SampleStore() = default;

  virtual const DatasetInfo& info() const = 0;
  /// Of a store of pixels: reads the sample's into `pixels`, H*W*C bytes. Throws StoreError.
  virtual void read_pixels(std::int64_t sample, std::span<std::byte> pixels) const;
  /// Of an encoded store: the sample's file, read into `memory`, which is the caller's. It may hold anything. Throws
  /// Error saying what is wrong with the sample ("it is ..."), or StoreError.
  virtual std::span<const std::byte> read_file(std::int64_t sample, std::vector<std::byte>& memory) const;
  /// Of a store of texts: how many tokens the sample has, at least one; known without reading it.
  virtual std::int64_t num_tokens(std::int64_t sample) const;
  /// The sample's tokens, read into `memory`, which is the caller's. Throws StoreError.
  virtual std::span<const std::int32_t> read_tokens(std::int64_t sample, std::vector<std::int32_t>& memory) const;
  /// A position in info().class_names; -1 where its class is not known.
  virtual std::int32_t label(std::int64_t sample) const = 0;
  /// The file that it came from, below what was imported; empty where that is not known. Throws StoreError.
  virtual std::string name(std::int64_t sample) const = 0;
};

}  // namespace convoy::io
