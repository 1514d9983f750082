/// The source of a loader's samples: a data set of Convoy's, or a folder of image files.
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

/// What is known about a store of texts.
struct TextInfo {
  Tokenization tokenization;    ///< the same for all its texts
  ColumnNames columns = {};     ///< of the tables that the texts were imported from
  std::int64_t num_tokens = 0;  ///< tokens of all texts, over all shards

  bool operator==(const TextInfo&) const = default;
};

/// What all shards of a split have in common, or what is known about a folder of images.
struct DatasetInfo {
  std::string kind = input_kinds::kImages;  ///< of input: convoy/base/features.h
  ImageShape image;                         ///< H, W, C; encoded: 0, 0, C, as each image has its own size
  bool encoded = false;                     ///< whether samples are image files, decoded when loaded; else pixels
  bool oriented = false;                    ///< turned as Exif says: pixels at the import, files when decoded
  std::int64_t num_samples = 0;             ///< over all shards
  std::vector<std::string> class_names;     ///< by label
  std::vector<std::int64_t> class_counts;   ///< samples of each class, over the shards opened; empty for a folder
  std::vector<double> channel_mean;         ///< (C) of values / 255, over all pixels; empty for a folder
  std::vector<double> channel_stddev;       ///< (C), of the same values; empty for a folder
  TextInfo text;                            ///< only if `kind` is text; then the members about images are not set
  std::string source;                       ///< the path that was imported, or the folder
};

/// The classes without samples: "2 of 10 classes have no sample: cat, dog". Empty if all have some, or the counts are
/// not known.
std::string describe_empty_classes(const DatasetInfo& info);

/// The store's files have changed since it was opened: one was cut short, overwritten, or cannot be read. No single
/// image is at fault, and no later one can be trusted. The message names the file and what to do.
class StoreError : public Error {
 public:
  using Error::Error;
};

/// A store of samples of one kind. The functions that read samples of another kind throw Error. Any thread may call all
/// members; `sample` is in [0, info().num_samples).
class SampleStore {
 public:
  virtual ~SampleStore() = default;

  virtual const DatasetInfo& info() const = 0;
  /// Reads the pixels of a sample, H*W*C bytes. Only for a store of pixels. Throws StoreError.
  virtual void read_pixels(std::int64_t sample, std::span<std::byte> pixels) const;
  /// Reads the image file of a sample into the caller's `memory`, whose former content does not matter. Only for an
  /// encoded store. Throws Error saying what is wrong with the sample ("it is ..."), or StoreError.
  virtual std::span<const std::byte> read_file(std::int64_t sample, std::vector<std::byte>& memory) const;
  /// The number of tokens of a sample, at least one; known without reading it. Only for a store of texts.
  virtual std::int64_t num_tokens(std::int64_t sample) const;
  /// Reads the tokens of a sample into the caller's `memory`. Only for a store of texts. Throws StoreError.
  virtual std::span<const std::int32_t> read_tokens(std::int64_t sample, std::vector<std::int32_t>& memory) const;
  /// The label of a sample: an index in info().class_names; -1 if its class is not known.
  virtual std::int32_t label(std::int64_t sample) const = 0;
  /// The file that the sample came from, relative to the imported folder; empty if that is not known. Throws
  /// StoreError.
  virtual std::string name(std::int64_t sample) const = 0;
};

}  // namespace convoy::io
