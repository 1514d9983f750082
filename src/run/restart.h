/// Finds where training starts: the newest valid checkpoint, a given checkpoint, given weights, or random weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/io/training_state.h"

namespace convoy {

struct Parameters;
struct Request;
struct RunData;
class TrainingStep;
namespace io {
struct Checkpoint;
struct DatasetInfo;
}  // namespace io

/// The folder of the run's checkpoints.
std::string checkpoint_directory(const Parameters& params);

/// The checkpoint from which a run resumes.
struct Resumed {
  std::string path;
  io::TrainingState state;
  std::string changes = {};  ///< result of changes_since(), on rank 0; empty on other ranks
};

/// Fills the parameters of all ranks and, if the run resumes from a checkpoint, the optimizer state. Rank 0 reads and
/// verifies the file, and sends it to the others. Returns the checkpoint, or nothing if training begins. All ranks of
/// the world call it. If checkpoint.resume names a file, the run begins from it; once run.directory has checkpoints of
/// its own, the same command resumes from those. Throws RequestError if checkpoint.resume or init.weights cannot be
/// followed, or if the checkpoint was trained on other data and checkpoint.allow_other_data is not set. If the best
/// value was measured on other data than now, the resumed state has no best value.
std::optional<Resumed> start_parameters(const Parameters& params, const RunData& data, TrainingStep& training);

/// Fills the parameters for a repetition of step number `step` of this run: from the newest checkpoint of an earlier
/// step or, if there is none, from where the run began. The caller repeats the steps in between. Throws RequestError if
/// the run began at a later step. All ranks of the world call it.
std::optional<Resumed> start_before(const Parameters& params, const RunData& data, std::int64_t step,
                                    TrainingStep& training);

/// A file with its verified bytes. The path is empty if no file was found.
struct FoundFile {
  std::string path;
  std::vector<std::byte> bytes;
  /// Prefix to remove from the names of tensors: init.strip_prefix if init.weights names the file.
  std::string prefix = {};
  /// Why a rule has chosen the file: " (the best, of step 20; the newest is of step 30)"; or empty.
  std::string choice = {};
};

/// Finds the weights to evaluate or to export, the first of:
///   1. the file that the command line names in init.weights or checkpoint.resume; best.h5 if checkpoint.resume = best
///   2. a checkpoint of the run in run.directory, if the run began from the files that the parameters name: its best
///      checkpoint, or the newest if it has no best one
///   3. the file that the parameter file names in checkpoint.resume or init.weights
/// For a checkpoint in parts, returns the bytes of a checkpoint that holds its weights itself. Throws RequestError if
/// nothing is found. Only one rank calls it.
FoundFile find_weights(const Request& request);

/// Finds best.h5 of run.directory, in a run whose best step so far is `step`. The path is empty if the file does not
/// exist; also, with a warning, if it cannot be read or is of another step. The bytes are those of a checkpoint that
/// holds its weights itself. Only one rank calls it.
FoundFile find_best(const Parameters& params, std::int64_t step);

/// Finds, reads and verifies the checkpoint from which a training with these parameters would resume. The path is empty
/// if the training would begin. Throws RequestError if checkpoint.resume cannot be followed, or if the run directory
/// records a checkpoint but has none; Error if all checkpoints are damaged. Only one rank calls it.
FoundFile find_start(const Parameters& params);

/// Whether checkpoint.resume names a file from which the run begins.
bool begins_from_file(const Parameters& params);

/// Throws RequestError if a training with these parameters and data cannot continue from `checkpoint`: it has another
/// network, batch, seed, number of samples, classes, vocabulary or, unless checkpoint.allow_other_data is set, training
/// data, or a weight is not finite. `resumed` holds the checkpoint's path and its state. Whether its tensors fit the
/// network, check_restorable() finds out.
void check_continues(const Parameters& params, const RunData& data, const io::Checkpoint& checkpoint,
                     const Resumed& resumed);

/// Returns the parameters that change the result and differ from those of the checkpoint: "optimizer.lr 0.1 -> 0.2;
/// learning rate of step 11: 0.1 -> 0.2". Empty if none differs. `where` names the checkpoint in messages.
std::string changes_since(const io::Checkpoint& checkpoint, const std::string& where, const Parameters& now,
                          const io::DatasetInfo& data);

/// Returns "changed since FILE: optimizer.lr 0.1 -> 0.2"; empty if there are no changes.
std::string describe_changes(const std::string& changes, const std::string& where);

/// Returns a sentence if the parameters name first weights that a resumed run does not read: "init.weights = A is not
/// used: ...". Empty if these are the weights with which the run began, or random ones. `where` names the checkpoint.
std::string describe_unused_weights(const Parameters& now, const io::Checkpoint& checkpoint, const std::string& where);

}  // namespace convoy
