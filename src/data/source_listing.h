/// Lists the samples that an import or a prediction finds in a source, of any kind.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/comm/communicator.h"

namespace convoy {

/// A list of names that is stored in one string, since there may be millions of names, on every rank.
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
  std::string name;                      ///< name of the split: train, val or test
  NameList names;                        ///< names of the samples: paths below the source's folder, "train/cat/17.jpg"
  std::vector<std::int32_t> labels;      ///< label of each sample; -1: its class is not known
  std::vector<std::int64_t> source_ids;  ///< number of each sample in the source, if names are not enough to read it

  std::int64_t size() const { return names.size(); }
  void add(std::string_view sample_name, std::int32_t label, std::int64_t source_id);
};

/// The samples of a source, in the order in which an import stores them.
struct SourceListing {
  std::vector<std::string> class_names;  ///< the name of each class; a label is an index in this list
  std::vector<SourceSplit> splits;       ///< the splits, train first
};

/// Calls `list` on rank 0, and returns what it returned there on all ranks. If it throws an Error or RequestError,
/// every rank throws the same. All ranks of `world` call it.
SourceListing list_on_root(const mpi::Communicator& world, const std::function<SourceListing()>& list);

/// Returns the first of the names as a text for messages: "'a', 'b', 'c', ...".
std::string examples(const std::vector<std::string>& names);

/// If names of classes differ in capitals or spaces only, returns a text that names the first of them: "'Liked',
/// 'liked' differ in capitals or spaces alone, and are 2 classes". Else returns an empty text.
std::string describe_spellings(const std::vector<std::string>& class_names);

/// The numbers of samples and classes that cut_validation() has found and moved.
struct ValidationCut {
  /// Number of samples of train that have a class, before the cut; number of these that were moved to val.
  std::int64_t num_samples = 0, num_moved = 0;
  std::int64_t num_raised = 0;   ///< number of classes whose rounded fraction was 0, so that one sample was moved
  std::int64_t num_lowered = 0;  ///< number of classes whose rounded fraction was all, so that one sample stayed
  std::int64_t num_single = 0;   ///< number of classes with a single sample, which stayed

  /// Returns a message for the user; empty if every class gave its rounded fraction.
  std::string describe(double fraction) const;
};

/// Moves the share `fraction` of each class of train, rounded to whole samples, to a new split val: at least one sample
/// and never all. Classes with one sample and samples without a class stay. Which samples move depends only on the
/// names of the samples in the class and on the seed. Throws RequestError if there is a split val already, or if no
/// sample can be moved.
ValidationCut cut_validation(SourceListing& listing, double fraction, std::uint64_t seed);

}  // namespace convoy
