/// Lists the samples that an import or a prediction finds in a source, of any kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/comm/communicator.h"

namespace convoy {

/// A list of names in one piece of memory: there may be millions, on every rank.
class NameList {
 public:
  void add(std::string_view name);
  std::int64_t size() const { return std::ssize(begins_); }
  std::string_view operator[](std::int64_t i) const;

 private:
  std::string text_;
  std::vector<std::int64_t> begins_;
};

struct SourceSplit {
  std::string name;                      ///< train, val or test
  NameList names;                        ///< paths below the source's folder, e.g. train/cat/17.jpg
  std::vector<std::int32_t> labels;      ///< label of each name; -1: its class is not known
  std::vector<std::int64_t> source_ids;  ///< number of each name for the source, if it needs more than names

  std::int64_t size() const { return names.size(); }
  void add(std::string_view sample_name, std::int32_t label, std::int64_t source_id);
};

/// The samples of a source, in the order in which they are stored.
struct SourceListing {
  std::vector<std::string> class_names;  ///< labels are their positions
  std::vector<SourceSplit> splits;       ///< the first is train
};

/// Returns rank 0's listing on all ranks of the group.
SourceListing broadcast_listing(const SourceListing& listing, const mpi::Communicator& world);

/// Returns the first names as messages quote them: "'a', 'b', 'c', ...".
std::string examples(const std::vector<std::string>& names);

/// Returns "'Liked', 'liked' differ in capitals or spaces alone, and are 2 classes" for the first names that do; else
/// an empty text.
std::string describe_spellings(const std::vector<std::string>& class_names);

/// Numbers of samples that cut_validation() moved and kept.
struct ValidationCut {
  std::int64_t num_samples = 0, num_moved = 0;  ///< samples of train before; samples of these that are now in val
  std::int64_t num_raised = 0;                  ///< classes whose rounded fraction was 0: one sample was moved
  std::int64_t num_lowered = 0;                 ///< classes whose rounded fraction was all: one sample stayed
  std::int64_t num_single = 0;                  ///< classes of one sample: it stayed

  /// Returns what the user must be told; empty if every class gave its fraction.
  std::string describe(double fraction) const;
};

/// Moves `fraction` of each class of train, rounded, but at least one sample and never all, to a split val. Whether a
/// sample moves depends only on the names in its class and the seed; a sample without a class stays. Throws
/// RequestError if there is a split val already.
ValidationCut cut_validation(SourceListing& listing, double fraction, std::uint64_t seed);

}  // namespace convoy
