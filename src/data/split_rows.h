/// Divides the rows of a source among the splits train, val and test, by lists of rows or by shares that are drawn, and
/// the samples of train among folds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace convoy {

/// The numbers of samples and classes from which samples were drawn for a split.
struct SplitCut {
  /// Number of samples that have a class, before the cut; number of these that were moved.
  std::int64_t num_samples = 0, num_moved = 0;
  std::int64_t num_raised = 0;   ///< number of classes whose rounded share was 0, so that one sample was moved
  std::int64_t num_lowered = 0;  ///< number of classes whose rounded share was all, so that one sample stayed
  std::int64_t num_single = 0;   ///< number of classes with a single sample, which stayed

  /// Returns how many of the `count` samples of a class are moved: the share `fraction` of `of`, the size of the class
  /// before any cut, rounded, at least 1 and never all. Counts them.
  std::int64_t take(double fraction, std::int64_t count, std::int64_t of);
  /// Returns a message for the user; empty if every class gave its rounded share. `key` is the parameter that gave the
  /// share of train, and `split` the split that the samples are moved to.
  std::string describe(const char* key, double fraction, const char* split) const;
};

/// The splits of rows, as indices in io::kSplitNames.
enum class RowSplit : std::uint8_t { kTrain, kVal, kTest };

/// Which rows go to val and to test.
struct RowSplitSpec {
  double val_fraction = 0, test_fraction = 0;               ///< shares of all rows that are drawn; 0: none
  std::vector<std::int64_t> val_rows = {}, test_rows = {};  ///< numbers of rows that are not drawn; ascending
  std::uint64_t seed = 0;
};

/// What the splits of rows depend on.
struct RowsToSplit {
  std::int64_t num_rows = 0;
  std::int64_t num_classes = 0;
  std::span<const std::int32_t> labels = {};   ///< class of each row; empty: there are no classes
  std::span<const std::uint64_t> groups = {};  ///< number of the group of each row; empty: there are no groups
};

struct DividedRows {
  std::vector<RowSplit> splits;    ///< of each row
  std::vector<std::string> notes;  ///< sentences about shares that are not what was requested
};

/// Divides the rows. Rows are drawn class by class; a class with one row stays. If there are groups, whole groups are
/// drawn, so that the shares of all rows and of each class come near to what is requested; the last rows of a class
/// stay in train. Which rows are drawn depends on the seed, the numbers of the rows and classes,
/// and the names of groups; val does not depend on test_fraction. Throws RequestError if train would be empty, or a
/// split for which a share is requested.
DividedRows divide_rows(const RowsToSplit& rows, const RowSplitSpec& spec);

/// Returns the fold of each row, from 1 to `num_folds`. Rows of a class differ in number by at most one from fold to
/// fold, and so do all rows. If there are groups, each lies in one fold: the largest group goes first, each to
/// the fold with the smallest share of its classes and rows. Rows and groups of one size are drawn from the seed, by
/// the numbers of the rows and the names of groups. Throws RequestError if there are fewer rows or groups than folds.
std::vector<std::uint16_t> deal_folds(const RowsToSplit& rows, std::int64_t num_folds, std::uint64_t seed);

/// A class whose rows all lie in one group, so that only one split or fold can have it.
struct ClassOfOneGroup {
  std::int32_t label = 0;
  std::int64_t row = 0;  ///< the first row of the class
};

/// Finds these classes, in ascending order. There are none without classes or without groups.
std::vector<ClassOfOneGroup> find_classes_of_one_group(const RowsToSplit& rows);

/// Returns two rows of one group that are in different splits; nothing if there are none.
std::optional<std::pair<std::int64_t, std::int64_t>> find_shared_group(std::span<const std::uint64_t> groups,
                                                                       std::span<const RowSplit> splits);

}  // namespace convoy
