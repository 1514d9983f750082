/// Defines the interface through which a loader reads samples: from a data set that Convoy imported, or from users'
/// files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoy/base/element_type.h"
#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/shape.h"
#include "convoy/base/target.h"
#include "convoy/io/tokenization.h"

namespace convoy::io {

/// The properties of a store of texts.
struct TextInfo {
  Tokenization tokenization;    ///< tokenization of all its texts
  ColumnNames columns = {};     ///< columns of the tables that the texts were imported from
  std::int64_t num_tokens = 0;  ///< number of tokens of all texts, over all shards

  bool operator==(const TextInfo&) const = default;
};

inline constexpr std::size_t kMaxArrays = 64;  ///< largest number of arrays of a sample
/// Largest number of labels or numbers of a sample that heads of shards have; more numbers are stored with its arrays.
inline constexpr std::int64_t kMaxTargetValues = 1024;

/// One of the arrays that each sample of a store has.
struct ArrayInfo {
  std::string name;  ///< name of the feature: a lower-case letter, then lower-case letters, digits and _, at most 50
  ElementType type = ElementType::kFloat32;
  /// Extents of the array of one sample, channels last: (C), (T,C), (H,W,C) or (D,H,W,C).
  std::vector<std::int64_t> dims;
  std::vector<std::string> channel_names = {};  ///< (C) columns of the table that it came from; otherwise empty
  /// (C) mean and standard deviation over the training samples; empty for files that were not imported.
  std::vector<double> mean = {}, stddev = {};
  bool fills_missing = false;  ///< whether a NaN is read as the mean of its channel
  std::string source = {};     ///< name of the array in the .npz or HDF5 file that it was imported from; else empty

  bool operator==(const ArrayInfo&) const = default;
  std::int64_t channels() const { return dims.back(); }
  std::int64_t bytes() const;  ///< size in bytes of the array of one sample
};

/// "float32 (64, 64, 7)"
std::string describe_form(const ArrayInfo& array);
/// "spectrum float32 (1024), position float32 (3)"
std::string describe_forms(std::span<const ArrayInfo> arrays);
/// "(64, 64, 2)"; "(5)" for a target with 5 outputs that is not in the record.
std::string describe_extents(const Target& target, std::int64_t num_outputs);
/// "64 x 64": the pixels of a field.
std::string describe_pixels(const Target& target);
/// " at each of 64 x 64 pixels" of a field; empty for other targets.
std::string describe_place(const Target& target);
/// Returns the array with this name; null if there is none.
const ArrayInfo* find_array(std::span<const ArrayInfo> arrays, std::string_view name);

/// Returns the arrays, and then the target if it is stored with them, as an array with the name features::kTarget.
std::vector<ArrayInfo> record_of(std::vector<ArrayInfo> arrays, const Target& target);

/// Throws Error if no file can hold these arrays and the target: no array or more than kMaxArrays, two with one name, a
/// name that is no feature's, not 1 to 4 extents of at least 1, or more than 2 GiB per sample.
void check_arrays(std::span<const ArrayInfo> arrays, const Target& target = {});
/// Throws Error if a target cannot have this number of outputs: labels, and numbers in the heads of shards, are 1 to
/// kMaxTargetValues; numbers that are stored with the arrays have one for each channel.
void check_target(const Target& target, std::int64_t num_outputs);

/// The properties of a split, which all its shards have in common, or of a folder of images or texts.
struct DatasetInfo {
  std::string kind = input_kinds::kImages;  ///< kind of input (convoy/base/features.h)
  ImageShape image;  ///< height, width and channels of each image; 0, 0, C if `encoded`, as each image has its own size
  /// Whether samples are stored as image files, which are decoded when they are loaded; false: as pixels.
  bool encoded = false;
  /// Whether images are rotated by their Exif orientation: pixels at the import, image files when decoded.
  bool oriented = false;
  std::int64_t num_samples = 0;          ///< number of samples over all shards
  std::int64_t bytes_in_memory = 0;      ///< size of the samples that are in memory after the first read; 0: none are
  std::vector<std::string> class_names;  ///< names of the classes, by label; or of the labels or numbers of `target`
  /// Number of samples of each class, or with each label, over the opened shards; empty for a folder and for numbers.
  std::vector<std::int64_t> class_counts;
  std::vector<double> channel_mean;    ///< (C) mean of values / 255 over all pixels; empty for a folder
  std::vector<double> channel_stddev;  ///< (C) standard deviation of values / 255 over all pixels; empty for a folder
  TextInfo text;                       ///< only if `kind` is kText; the members about images are then not set
  std::vector<ArrayInfo> arrays;       ///< the inputs of each sample; only if `kind` is kArrays
  Target target;                       ///< what a network has to answer; always a class if `kind` is not kArrays
  std::string source;                  ///< the path that was imported, or the folder
  std::int64_t num_folds = 0;          ///< number of folds that the samples belong to (import.folds); 0: to none
  /// (F,V) means and standard deviations over the samples outside each of F folds, whose V values lie in the order of
  /// statistics(); empty for texts, and if there are no folds.
  std::vector<double> fold_mean, fold_stddev;

  /// The arrays that are stored of a sample, one after the other: the inputs, and after them a target that is stored
  /// with them.
  std::vector<ArrayInfo> record() const { return record_of(arrays, target); }
  /// Returns the lists of means and of standard deviations: of the channels of images, or of each array, and of numbers
  /// that are the target.
  std::vector<std::pair<std::vector<double>*, std::vector<double>*>> statistics();
  /// Sets statistics() to those over the samples outside `fold`, a number from 1 to num_folds.
  void use_statistics_outside(std::int64_t fold);
  /// Size in bytes of a stored sample: its pixels, or all its arrays. 0 if samples differ in size.
  std::int64_t record_bytes() const;
  /// Number of values of the target of a sample: labels or numbers, at all pixels. 0 for a class.
  std::int64_t num_target_values() const {
    return target.kind == TargetKind::kClass ? 0 : target.num_values(std::ssize(class_names));
  }
  /// Number of values of the target of a sample that the heads of shards have.
  std::int64_t num_values_in_head() const { return target.is_in_record() ? 0 : num_target_values(); }
};

/// Returns a sentence about classes without samples: "2 of 10 classes have no sample: cat, dog". Empty if all have
/// some, or if class_counts is empty.
std::string describe_empty_classes(const DatasetInfo& info);

/// An error that makes a whole store unusable: one of its files was cut short or overwritten since it was opened, or
/// cannot be read. It is not caused by a single sample, and no later sample can be trusted. The message names the file
/// and what to do.
class StoreError : public Error {
 public:
  using Error::Error;
};

/// A store of samples of one kind: pixels, image files, texts or arrays. The functions that read samples of another
/// kind throw Error. Any thread may call all members; `sample` is in [0, info().num_samples).
class SampleStore {
 public:
  virtual ~SampleStore() = default;

  virtual const DatasetInfo& info() const = 0;
  /// Reads the pixels of a sample, H*W*C bytes. Only for a store of pixels. Throws StoreError.
  virtual void read_pixels(std::int64_t sample, std::span<std::byte> pixels) const;
  /// Reads the image file of a sample into the caller's `memory`, whose former content does not matter, and returns its
  /// bytes. Only for an encoded store. Throws Error saying what is wrong with the sample ("it is ..."), or StoreError.
  virtual std::span<const std::byte> read_file(std::int64_t sample, std::vector<std::byte>& memory) const;
  /// The number of tokens of a sample, at least one; known without reading it. Only for a store of texts.
  virtual std::int64_t num_tokens(std::int64_t sample) const;
  /// Reads the tokens of a sample into the caller's `memory`, and returns them. Only for a store of texts. Throws
  /// StoreError.
  virtual std::span<const std::int32_t> read_tokens(std::int64_t sample, std::vector<std::int32_t>& memory) const;
  /// Returns the bytes of the array info().arrays[input] of a sample. They lie in memory of the store, or are read into
  /// the caller's `memory`. Only for a store of arrays. Throws StoreError.
  virtual std::span<const std::byte> read_array(std::int64_t sample, std::size_t input,
                                                std::vector<std::byte>& memory) const;
  /// Reads the labels (0 or 1) or the numbers of a sample's target into `values`, of info().num_target_values() values.
  /// NaN is a value that is not known. Only for a store whose target is not a class.
  virtual void read_target(std::int64_t sample, std::span<float> values) const;
  /// Whether reading is fast only if one thread reads the samples in ascending order.
  virtual bool reads_in_order() const { return false; }
  /// The label of a sample: an index in info().class_names; -1 if its class is not known or the target is not a class.
  virtual std::int32_t label(std::int64_t sample) const = 0;
  /// The name of the file that the sample came from, relative to the imported folder; empty if it is not known. Throws
  /// StoreError.
  virtual std::string name(std::int64_t sample) const = 0;
};

}  // namespace convoy::io
