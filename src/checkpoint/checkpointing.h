/// Gathers the parameters and the optimizer state of all ranks in one checkpoint that does not depend on the layout,
/// and restores them on any grid.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "convoy/io/checkpoint.h"

#include "step/training_step.h"

namespace convoy {

/// The result of comparing the tensors of a file with the parameters of a network, by name and shape.
struct WeightMatch {
  std::set<std::string> matching;         ///< names that both have with the same shape
  std::vector<std::string> missing;       ///< names that only the network has, in the network's order
  std::vector<std::string> unexpected;    ///< names that only the file has, in the file's order
  std::vector<std::string> wrong_shapes;  ///< "fc.weight: 9x512, not 10x512", in the network's order

  bool is_exact() const { return missing.empty() && unexpected.empty() && wrong_shapes.empty(); }
  /// Describes the differences: "2 missing (fc.weight, fc.bias); 40 unexpected (a, b, c, ...)". Empty if there are
  /// none.
  std::string differences() const;
  /// Describes the tensors of the file `where` that fit, and that the others are not used: "FILE: 60 tensors fit; ...".
  std::string describe_part(const std::string& where) const;
  /// Returns a sentence on what to do. If the names match without a prefix of the file's names, it names the prefix;
  /// else it is a question.
  std::string remedy() const;
};

/// Compares the tensors of a file with the parameters of a network.
WeightMatch match_weights(const Network& network, const std::vector<io::NamedTensor>& tensors);

/// What a checkpoint must hold for a training to resume from it.
struct ResumeNeeds {
  const Network& network;
  std::vector<std::string> states;  ///< names of the optimizer states
  bool has_ema = false;
};
/// Throws the RequestError of restore_checkpoint() if `checkpoint` lacks what is needed. `where` names the file in
/// messages. Does not communicate.
void check_restorable(const io::Checkpoint& checkpoint, const std::string& where, const ResumeNeeds& needs);

/// Gathers a checkpoint: all ranks of the grid call it and send their parameters and optimizer state. Rank 0 returns
/// the tensors; the other ranks return a checkpoint without tensors.
io::Checkpoint gather_checkpoint(const TrainingStep& training);

/// Restores the state from which training resumes: the parameters, the optimizer states, the numbers of steps and
/// updates, and the moving average (it begins at the parameters if the checkpoint has none). All ranks of the grid call
/// it, with the same checkpoint. If that is in parts, each rank reads its values from the files next to `where`, the
/// checkpoint's path. Throws RequestError if the tensors do not match the network.
void restore_checkpoint(const io::Checkpoint& checkpoint, const std::string& where, TrainingStep& training);

/// Restores parameters, the optimizer states and the moving average from the part files of the checkpoint at `path`,
/// which must have the tensors of the network: each rank reads only the files that hold values of its stage. All ranks
/// of the grid call it. It takes host memory for one file, the stage's parameters and this rank's slices. Throws Error
/// naming the file if one cannot be read; RequestError if a value is infinite or NaN.
void restore_parts(const io::Checkpoint& checkpoint, const std::string& path, TrainingStep& training);

/// Restores parameters and running statistics. All ranks of the grid call it; ranks without
/// RankRuntime::writes_parameters() need no tensors. Throws RequestError, which lists the tensors that are missing,
/// unexpected or of another shape. `where` names the file.
void restore_weights(const std::vector<io::NamedTensor>& tensors, const std::string& where, RankRuntime& runtime);

/// Restores the tensors that match a parameter, and gives the other parameters their initial values. Throws
/// RequestError if no tensor matches. Only for a network that trains. All ranks of the grid call it, with the same
/// tensors.
WeightMatch restore_matching_weights(const std::vector<io::NamedTensor>& tensors, const std::string& where,
                                     const InitialSpec& initial, RankRuntime& runtime);

/// Gives every parameter its initial values. All ranks of the grid call it.
void initialise_parameters(const InitialSpec& initial, RankRuntime& runtime);

}  // namespace convoy
