/// Lists the samples that an import or a prediction finds in a source, of any kind.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/comm/communicator.h"

#include "data/split_rows.h"

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
  std::vector<std::uint16_t> folds;      ///< fold of each sample of train, from 1; empty: there are none
  std::vector<std::int64_t> source_ids;  ///< number of each sample in the source, if names are not enough to read it

  std::int64_t num_samples = 0;  ///< number of samples; they need not have names, labels and numbers here

  std::int64_t size() const { return num_samples; }
  std::int32_t label(std::int64_t sample) const {
    return labels.empty() ? -1 : labels[static_cast<std::size_t>(sample)];
  }
  std::int64_t fold(std::int64_t sample) const { return folds.empty() ? 0 : folds[static_cast<std::size_t>(sample)]; }
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

/// Returns the names of classes in the order in which they are numbered: that of the numbers if all are whole numbers,
/// else that of the bytes.
std::vector<std::string> in_order_of_classes(std::vector<std::string> names);

/// If names of classes differ in capitals or spaces only, returns a text that names the first of them: "'Liked',
/// 'liked' differ in capitals or spaces alone, and are 2 classes". Else returns an empty text.
std::string describe_spellings(const std::vector<std::string>& class_names);

/// Moves the share `fraction` of each class of train, rounded to whole samples, to a new split val: at least one sample
/// and never all. Classes with one sample and samples without a class stay. Which samples move depends only on the
/// names of the samples in the class and on the seed. Throws RequestError if there is a split val already, or if no
/// sample can be moved.
SplitCut cut_validation(SourceListing& listing, double fraction, std::uint64_t seed);

}  // namespace convoy
