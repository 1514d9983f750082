/// Lists the samples of an import of arrays: opens the splits of the source, finds out the target, and divides the rows
/// among splits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/params/data_parameters.h"

#include "data/arrays/array_source.h"
#include "data/arrays/target_columns.h"
#include "data/source_listing.h"
#include "data/split_rows.h"

namespace convoy {

/// The rows of a source that a split has, in ascending order: all, or those that divide_rows() has given it.
class SplitRows {
 public:
  explicit SplitRows(std::int64_t num_rows) : num_rows_(num_rows) {}
  SplitRows(std::shared_ptr<const std::vector<RowSplit>> splits, RowSplit split);

  std::int64_t size() const { return num_rows_; }
  /// Number of the row of a sample; fast if samples ascend.
  std::int64_t row(std::int64_t sample);

 private:
  std::shared_ptr<const std::vector<RowSplit>> splits_;  ///< null: all rows
  RowSplit split_ = RowSplit::kTrain;
  std::int64_t num_rows_ = 0;
  std::vector<std::int64_t> before_;  ///< number of the split's rows before each block of rows
  std::int64_t last_sample_ = -1, last_row_ = -1;
};

/// The samples of all splits. All ranks have the same, and call the members together; rank 0 reads the targets of all
/// rows for all.
class ArrayListing {
 public:
  /// Opens import.source and lists it: one split train, or the splits that its files or folders are named after. Throws
  /// RequestError on all ranks if the source or a key is wrong, or a group is in two splits.
  ArrayListing(const ImportParams& params, const mpi::Communicator& world);

  /// Divides the rows of train among train, val and test, and the samples of train among folds, as the keys say. Throws
  /// RequestError on all ranks if the keys contradict each other or the source, or if a group would be in two splits.
  void divide(std::uint64_t seed);

  /// Names of the classes, labels or numbers, and the splits; samples have no names here.
  SourceListing& listing() { return listing_; }
  const TargetForm& target() const { return target_; }
  /// The form of a target that is in the records (ArraySource::form_of_target()).
  const Target& form_of_target() const { return sources_.front()->form_of_target(); }
  const std::string& source_of_target() const { return sources_.front()->source_of_target(); }
  /// The source of a split, and the row of a sample in it.
  ArraySource& source(std::size_t split) { return *sources_[places_[split].source]; }
  std::int64_t row(std::size_t split, std::int64_t sample) { return places_[split].rows.row(sample); }
  /// The arrays of a sample; all sources have the same.
  const std::vector<io::ArrayInfo>& inputs() const { return sources_.front()->inputs(); }
  std::size_t num_sources() const { return sources_.size(); }
  ArraySource& source_at(std::size_t index) const { return *sources_[index]; }
  std::size_t source_index(std::size_t split) const { return places_[split].source; }

  /// Sentences about what was found out, and about shares that are not what was requested; empty except on rank 0.
  std::vector<std::string> notes() const;

 private:
  struct Place {
    std::size_t source = 0;
    SplitRows rows;
  };

  void open(const std::string& split, const std::string& path, const std::optional<PictureSource>& pictures);
  void check_inputs() const;
  void list_train();
  void list_other(std::size_t source);
  std::vector<std::int32_t> labels_of(std::size_t source) const;
  std::uint64_t group_of(ArraySource& source, std::int64_t row) const;
  void add_split(std::string name, std::vector<std::int32_t> labels, Place place);
  void check_groups_of_splits();
  void check_request(bool are_classes_folders) const;
  RowSplitSpec split_spec(std::uint64_t seed) const;
  RowsToSplit rows_of_train() const;
  void note_classes_of_one_group();
  std::vector<RowSplit> divide_on_root(std::uint64_t seed);
  void divide_train(std::uint64_t seed);
  void deal_train(std::uint64_t seed);
  [[noreturn]] void refuse_shared_group(ArraySource& a, std::int64_t row_a, ArraySource& b, std::int64_t row_b) const;

  const ImportParams& params_;
  mpi::Communicator world_;
  std::vector<std::unique_ptr<ArraySource>> sources_;
  std::vector<std::string> names_;  ///< of the splits of the sources
  TargetForm target_;
  SourceListing listing_;
  std::vector<Place> places_;                       ///< one for each split of listing_
  std::vector<std::vector<std::uint64_t>> groups_;  ///< of each source and row; on rank 0, if there are groups
  std::vector<std::string> notes_;
};

}  // namespace convoy
