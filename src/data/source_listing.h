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
  std::vector<std::int32_t> labels;      ///< of each name
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

/// Moves `fraction` of each class of train, rounded, but at least one sample and never all, to a split val. Whether a
/// sample moves depends on the names in its class and the seed only. Throws RequestError where there is a val already.
void cut_validation(SourceListing& listing, double fraction, std::uint64_t seed);

}  // namespace convoy
