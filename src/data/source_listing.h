/// Lists of what an import or a prediction finds in a source, whatever kind of samples it holds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/comm/communicator.h"

namespace convoy {

/// Names in one piece of memory: there may be millions, on every rank.
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
  NameList names;                        ///< below the source's folder, e.g. train/cat/17.jpg
  std::vector<std::int32_t> labels;      ///< of each name; -1: its class is not known
  std::vector<std::int64_t> source_ids;  ///< of each name: what the source knows it by, where names are not enough

  std::int64_t size() const { return names.size(); }
  void add(std::string_view sample_name, std::int32_t label, std::int64_t source_id);
};

/// In the order in which samples are stored.
struct SourceListing {
  std::vector<std::string> class_names;  ///< labels are their positions
  std::vector<SourceSplit> splits;       ///< the first is train
};

/// Rank 0's listing, on all ranks of the group.
SourceListing broadcast_listing(const SourceListing& listing, const mpi::Communicator& world);

/// The first names as a message quotes them: "'a', 'b', 'c', ...".
std::string examples(const std::vector<std::string>& names);

/// "'Liked', 'liked' differ in capitals or spaces alone, and are 2 classes": the first names that do; else nothing.
std::string describe_spellings(const std::vector<std::string>& class_names);

/// How a fraction became numbers of samples.
struct ValidationCut {
  std::int64_t num_samples = 0, num_moved = 0;  ///< of train as it was; of them in val
  std::int64_t num_raised = 0;                  ///< classes of which the fraction, rounded, is 0: one sample moved
  std::int64_t num_lowered = 0;                 ///< classes of which it is all: one sample stayed
  std::int64_t num_single = 0;                  ///< classes of one sample: it stayed

  /// What a user must be told; empty where every class gave its fraction.
  std::string describe(double fraction) const;
};

/// Moves `fraction` of each class of train, rounded, but at least one sample and never all, to a split val. Whether a
/// sample moves depends on the names in its class and the seed only; one without a class stays. Throws RequestError
/// where there is a val already.
ValidationCut cut_validation(SourceListing& listing, double fraction, std::uint64_t seed);

}  // namespace convoy
