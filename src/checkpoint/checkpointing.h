/// Writes the arenas of all ranks into one checkpoint that does not depend on the layout, and reads it on any grid.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "convoy/io/checkpoint.h"

#include "step/rank_runtime.h"

namespace convoy {

/// How the tensors of a file fit a network: by name and shape.
struct WeightMatch {
  std::set<std::string> matching;
  std::vector<std::string> missing;       ///< names that the network has alone, in its order
  std::vector<std::string> unexpected;    ///< names that the file has alone, in its order
  std::vector<std::string> wrong_shapes;  ///< "fc.weight: 9x512, not 10x512", in the network's order

  bool is_exact() const { return missing.empty() && unexpected.empty() && wrong_shapes.empty(); }
  /// Each kind with the first few of its names and how many there are.
  std::string differences() const;
  /// Says what to do: if the removal of a prefix from the file's names makes them the network's names, the prefix is
  /// named; else it is a question.
  std::string remedy() const;
};

/// Which tensors of a file are a network's.
WeightMatch match_weights(const Network& network, const std::vector<io::NamedTensor>& tensors);

/// What a checkpoint must hold for a training to resume from it.
struct ResumeNeeds {
  const Network& network;
  std::vector<std::string> slots;  ///< of the optimizer
  bool has_ema = false;
};
/// Throws RequestError, as restore_checkpoint() does, where `checkpoint` does not. One rank.
void check_restorable(const io::Checkpoint& checkpoint, const std::string& where, const ResumeNeeds& needs);

/// All ranks send their parameters and shards; rank 0 returns the model and optimizer parts, the others nothing in
/// them.
io::Checkpoint gather_checkpoint(const RankRuntime& runtime);

/// Every rank takes its part, from the files beside `where` if the checkpoint is in parts: the model as
/// restore_weights() does, and all that training goes on with: the optimizer's slots, the number of updates, the moving
/// average (which begins at the model where there is none).
void restore_checkpoint(const io::Checkpoint& checkpoint, const std::string& where, RankRuntime& runtime);

/// Every rank takes its part of these weights; a rank that RankRuntime::writes_parameters() leaves out needs none.
/// Throws RequestError listing what is missing, unexpected or of another shape.
void restore_weights(const std::vector<io::NamedTensor>& tensors, const std::string& where, RankRuntime& runtime);

/// Every rank takes its part of those that fit, and initial values for the others. Throws RequestError where none fits.
/// For a network that trains: all ranks have the tensors.
WeightMatch restore_matching_weights(const std::vector<io::NamedTensor>& tensors, const std::string& where,
                                     const InitialSpec& initial, RankRuntime& runtime);

/// Fills every parameter with its initial values.
void initialise_parameters(const InitialSpec& initial, RankRuntime& runtime);

}  // namespace convoy
