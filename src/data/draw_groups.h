/// Draws whole groups of rows for a split, or for folds, so that each part has its share of each class.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "convoy/base/random.h"

namespace convoy {

/// Number of rows of a class.
struct ClassCount {
  std::int32_t label = 0;
  std::int64_t count = 0;
};

/// The rows of one group.
struct RowGroup {
  std::uint64_t drawn = 0, number = 0;
  std::int64_t size = 0;                 ///< number of its rows
  std::vector<ClassCount> classes = {};  ///< of its rows that have a class, ascending by class
  std::uint16_t part = 0;                ///< split or fold that it was given to
};

/// Lists the groups of rows in ascending order of their numbers. `groups`: number of the group of each row. `labels`:
/// class of each row, -1 if it has none; empty: there are no classes. Each group has a random number of the seed.
std::vector<RowGroup> list_groups(std::span<const std::uint64_t> groups, std::span<const std::int32_t> labels,
                                  std::uint64_t seed, Purpose purpose);
/// Returns the group with this number. `ascending` is in the order of list_groups.
const RowGroup& group_with(const std::vector<RowGroup>& ascending, std::uint64_t number);

/// Draws groups of part 0 for other parts. A group is taken, in the order of the random numbers, if that brings the
/// numbers of rows and of rows of each class nearer to their shares. The last rows of a class are never taken.
class GroupDraw {
 public:
  /// Shares are of all rows of `groups`, which are ordered by their random numbers.
  explicit GroupDraw(std::vector<RowGroup>& groups);

  /// Number of the groups and rows that were taken.
  struct Taken {
    std::int64_t num_groups = 0, num_rows = 0;
  };
  /// Moves the share `fraction` from part 0 to `part`. A class that part 0 has in several groups is taken, too, if the
  /// part then has at most twice its share of rows; and the smallest group is taken if no other is.
  Taken take(double fraction, std::uint16_t part);

 private:
  using Counts = std::unordered_map<std::int32_t, std::int64_t>;

  double change(const RowGroup& group, int sign) const;
  void move(RowGroup& group, std::uint16_t part);
  bool is_last(const RowGroup& group, const Counts& rows) const;
  void take_missing_classes();
  void improve();

  std::vector<RowGroup>& groups_;
  Counts sizes_;         ///< rows of each class, in all parts
  Counts left_, taken_;  ///< rows of each class in part 0, and in the part that is drawn
  std::int64_t num_rows_ = 0, num_left_ = 0, num_taken_rows_ = 0;
  double fraction_ = 0;
  std::uint16_t part_ = 0;
};

/// Gives each group a fold from 1 to `num_folds`, as its part: the largest group first, each to the fold that has the
/// smallest share of its classes and rows. No fold stays empty. There must be at least as many groups as folds.
void deal_groups(std::vector<RowGroup>& groups, std::int64_t num_folds);

}  // namespace convoy
