/// Reads samples from users' files of arrays and tables of numbers, part by part joined: for imports, and for
/// predictions of files that were not imported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/io/sample_store.h"
#include "convoy/params/choices.h"

#include "data/arrays/array_files.h"
#include "data/arrays/element_values.h"
#include "data/arrays/picture_part.h"
#include "data/arrays/sample_part.h"

namespace convoy {

/// What is read of a source.
struct ArraySourceSpec {
  std::string path;              ///< a file, or a folder of files
  std::string key;               ///< the parameter that gave the path, for messages: "import.source"
  std::vector<PartSpec> inputs;  ///< the arrays of a sample; empty: the only one that there is
  /// Where the target, a name of each sample and its group are (PartSpec::where); empty: not read.
  std::string target = {}, id = {}, group = {};
  AxesKind axes = AxesKind::kAuto;
  /// Set if the path is a folder of pictures, each of which is a sample; only rank 0 needs it.
  std::optional<PictureSource> pictures = {};
};

/// The samples of users' files. One thread may use it at a time. A row is the number of a sample, from 0; reading is
/// fast if rows ascend. A record is what io::ShardWriter stores of a sample: its arrays, one after the other, with
/// channels last; float64 becomes float32. A target with pixels, or with more than io::kMaxTargetValues values, is its
/// last array, as float32.
class ArraySource {
 public:
  /// Opens the files. All ranks of `world` call it. Throws RequestError on all ranks, naming the key, if a part is not
  /// found, cannot be opened, holds texts, or has axes of which it is not known which one is that of the channels.
  ArraySource(const ArraySourceSpec& spec, const mpi::Communicator& world);
  ~ArraySource();
  ArraySource(ArraySource&&) noexcept;

  /// Name, type, extents and channel names of the inputs of a sample.
  const std::vector<io::ArrayInfo>& inputs() const { return inputs_; }
  /// The form of a target that is in the record: Target::dims and channel_axis, and the shape. Else the default.
  const Target& form_of_target() const { return form_of_target_; }
  std::int64_t record_bytes() const;
  /// The part of the target or of the groups; null if the specification names none.
  SamplePart* target() const { return target_; }
  SamplePart* group() const { return group_; }
  /// What a message calls the target: "'wine.csv', column 'quality'".
  const std::string& target_place() const { return target_place_; }
  /// The name of the target: its array, its file without an ending, or its only column.
  const std::string& target_name() const { return target_name_; }

  /// The name by which the target is found in files of the same layout (Target::source).
  const std::string& source_of_target() const { return source_of_target_; }

  /// Whether there is such a row. Tables whose rows are not counted yet are read up to it.
  bool has(std::int64_t row);
  /// Finds the number of samples; rank 0 reads tables up to their ends for all. All ranks of `world` call it. Throws
  /// RequestError on all ranks if two parts have different numbers of samples, or a row of a table is damaged.
  void count(const mpi::Communicator& world);
  std::int64_t num_samples() const { return num_samples_; }  ///< known after count()

  /// Reads a sample into `record`, of record_bytes() bytes. Its values may be NaN or infinite. Throws Error if a file
  /// is damaged, a field of a table is no number, or a value is beyond float32.
  void read_record(std::int64_t row, std::span<std::byte> record);
  /// Reads one of inputs() of a sample, of ArrayInfo::bytes(). Throws Error as read_record() does.
  void read_input(std::size_t input, std::int64_t row, std::span<std::byte> array) {
    read_part(stored_.at(input), row, array);
  }
  /// The name of a sample: its id, or where it is, as "x.npy:17" (rows from 0) or "wine.csv:18" (lines from 1).
  std::string name(std::int64_t row);
  /// Where a sample is, also if it has an id.
  std::string place(std::int64_t row) { return all_parts_.front()->place(row); }

  /// What was lost of each array in the records that were read.
  std::vector<LossOfPrecision> losses() const;
  /// Sentences about what was found out, such as the axis of the channels; empty except on rank 0.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  /// How a part of the files becomes a part of the record.
  struct StoredPart {
    SamplePart* part = nullptr;
    ElementType type = ElementType::kFloat32;
    std::int64_t channels = 1;
    bool has_channels_first = false;
    LossOfPrecision loss = {};
  };

  void open(const ArraySourceSpec& spec, const std::vector<PartLocation>& locations);
  SamplePart* add_part(const PartLocation& location);
  void add_input(const PartSpec& spec, const PartLocation& location, const ArraySourceSpec& source);
  void add_target(AxesKind axes);
  void open_pictures(const ArraySourceSpec& spec, const std::vector<PartLocation>& locations);
  void check_names();
  void check_counts(const std::vector<PartLocation>& locations);
  std::span<const std::byte> as_stored(StoredPart& part, std::int64_t row);
  std::size_t read_part(StoredPart& part, std::int64_t row, std::span<std::byte> to);

  OpenTables tables_;
  std::vector<PartLocation> locations_;  ///< of inputs, then of the target, the ids and the groups, if there are such
  std::vector<std::unique_ptr<SamplePart>> all_parts_;  ///< as locations_
  std::vector<io::ArrayInfo> inputs_;
  std::vector<StoredPart> stored_;  ///< one for each of inputs_, and the target if it is in the record
  SamplePart *target_ = nullptr, *id_ = nullptr, *group_ = nullptr;
  Target form_of_target_;
  std::string key_, target_place_, target_name_, source_of_target_;
  std::int64_t num_samples_ = -1;
  std::vector<std::string> notes_;
  std::vector<double> doubles_;
  std::vector<float> rounded_;
};

/// "'all.npz', array 'x'"; "'wine.csv', column 'quality'"; "'wine.csv', 11 columns"; "'x.npy'".
std::string describe(const PartLocation& location);

}  // namespace convoy
