/// Finds where training starts: the newest valid checkpoint, a given one, given weights, or random ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/io/training_state.h"

namespace convoy {

struct Parameters;
class RankRuntime;
struct Request;
struct RunData;
namespace io {
struct Checkpoint;
struct DatasetInfo;
}  // namespace io

/// The folder of a run's checkpoints.
std::string checkpoint_directory(const Parameters& params);

struct Resumed {
  std::string path;
  io::TrainingState state;
  std::string changes = {};  ///< text of changes_since(); on rank 0
};

/// Fills the parameters of all ranks (and the optimizer's state on a restart). Rank 0 reads and verifies, the others
/// receive. Returns the checkpoint that is resumed, or nothing if training begins. All ranks of the world.
/// A file that checkpoint.resume names is where a run begins; after its run.directory holds checkpoints of its own, the
/// same command resumes from those. Throws RequestError if checkpoint.resume or init.weights cannot be followed. A
/// checkpoint that was trained on other data is refused, too, unless checkpoint.allow_other_data is set. If the best
/// value was measured on other data than now, the resumed state has no best value.
std::optional<Resumed> start_parameters(const Parameters& params, const RunData& data, RankRuntime& runtime);

/// Fills the parameters with their values before step `step` of this run: from the newest checkpoint of an earlier
/// step, or from where the run began. Throws RequestError if that is not before `step`.
std::optional<Resumed> start_before(const Parameters& params, const RunData& data, std::int64_t step,
                                    RankRuntime& runtime);

/// A file with its verified bytes; the path is empty if no file was found.
struct FoundFile {
  std::string path;
  std::vector<std::byte> bytes;
  std::string prefix = {};  ///< prefix to remove from tensor names: init.strip_prefix, if init.weights names the file
  std::string choice = {};  ///< " (the best, of step 20; the newest is of step 30)" if a rule has chosen the file
};

/// Finds the weights to evaluate or to export, the first of:
///   1. the file that the command line names in init.weights or checkpoint.resume; best.h5 if checkpoint.resume = best
///   2. what the run in run.directory has learnt, if it began from the files that the parameters name: its best
///      checkpoint, or the newest if it has no best one
///   3. the file that the parameter file names in checkpoint.resume or init.weights
/// For a checkpoint in parts, the bytes are those of a checkpoint that holds its weights itself. Throws RequestError if
/// nothing is found. One rank.
FoundFile find_weights(const Request& request);

/// Finds best.h5 of run.directory, for a run whose best step so far is `step`. The path is empty if the file does not
/// exist, and, with a warning, if it cannot be read or is of another step. Its bytes are those of a checkpoint that
/// holds its weights itself. One rank.
FoundFile find_best(const Parameters& params, std::int64_t step);

/// Finds, reads and verifies the file that a training with these parameters would resume from; none if it would begin.
/// Throws RequestError if checkpoint.resume cannot be followed, and if the run directory records a checkpoint but holds
/// none; Error if all checkpoints are damaged. One rank.
FoundFile find_start(const Parameters& params);

/// Whether checkpoint.resume names a file that the run begins from.
bool begins_from_file(const Parameters& params);

/// Throws RequestError if a training with these parameters and data cannot continue from the checkpoint.
void check_continues(const Parameters& params, const RunData& data, const io::Checkpoint& checkpoint,
                     const Resumed& resumed);

/// Returns what changes the result and is not as it was when the checkpoint was written: "optimizer.lr 0.1 -> 0.2;
/// learning rate of step 11: 0.1 -> 0.2". Empty if nothing has changed.
std::string changes_since(const io::Checkpoint& checkpoint, const std::string& where, const Parameters& now,
                          const io::DatasetInfo& data);

/// Returns "changed since FILE: optimizer.lr 0.1 -> 0.2"; empty if there are no changes.
std::string describe_changes(const std::string& changes, const std::string& where);

/// Returns a sentence about the first weights that the parameters name and the resumed run does not read any more:
/// "init.weights = A is not used: ...". Empty if they are the same as when the run began, or random.
std::string describe_unused_weights(const Parameters& now, const io::Checkpoint& checkpoint, const std::string& where);

}  // namespace convoy
