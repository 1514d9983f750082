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
  std::vector<std::string> missing;       ///< names that only the network has, in its order
  std::vector<std::string> unexpected;    ///< names that only the file has, in its order
  std::vector<std::string> wrong_shapes;  ///< "fc.weight: 9x512, not 10x512", in the network's order

  bool is_exact() const { return missing.empty() && unexpected.empty() && wrong_shapes.empty(); }
  /// Describes each kind of difference with its first names and their number.
  std::string differences() const;
  /// Says what to do. If the names match after a prefix is removed from those of the file, the prefix is named;
  /// otherwise the text is a question.
  std::string remedy() const;
};

/// Compares the tensors of a file with those of a network.
WeightMatch match_weights(const Network& network, const std::vector<io::NamedTensor>& tensors);

/// What a checkpoint must hold for a training to resume from it.
struct ResumeNeeds {
  const Network& network;
  std::vector<std::string> slots;  ///< names of the optimizer's slots
  bool has_ema = false;
};
/// Throws the RequestError of restore_checkpoint() if `checkpoint` lacks what is needed. One rank.
void check_restorable(const io::Checkpoint& checkpoint, const std::string& where, const ResumeNeeds& needs);

/// Gathers a checkpoint: all ranks send their parameters and shards. Rank 0 returns the model and the optimizer's
/// state; the other ranks return a checkpoint without them.
io::Checkpoint gather_checkpoint(const RankRuntime& runtime);

/// Restores training: every rank takes its part, from the files next to `where` if the checkpoint is in parts. This is
/// the model, in the way of restore_weights(), and the state from which training resumes: the optimizer's slots, the
/// number of updates, and the moving average (which begins at the model if the checkpoint has none).
void restore_checkpoint(const io::Checkpoint& checkpoint, const std::string& where, RankRuntime& runtime);

/// Restores weights: every rank takes its part; a rank that RankRuntime::writes_parameters() leaves out needs none.
/// Throws RequestError that lists the tensors that are missing, unexpected or of another shape.
void restore_weights(const std::vector<io::NamedTensor>& tensors, const std::string& where, RankRuntime& runtime);

/// Restores the weights that match, and gives the others initial values. Throws RequestError if none matches. For a
/// network that trains: all ranks have the tensors.
WeightMatch restore_matching_weights(const std::vector<io::NamedTensor>& tensors, const std::string& where,
                                     const InitialSpec& initial, RankRuntime& runtime);

/// Fills every parameter with its initial values.
void initialise_parameters(const InitialSpec& initial, RankRuntime& runtime);

}  // namespace convoy
