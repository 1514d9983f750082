/// Where training starts: the newest valid checkpoint, a given one, given weights, or random ones.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "convoy/io/checkpoint.h"
#include "convoy/io/dataset.h"
#include "convoy/params/parse.h"

#include "run/run_data.h"
#include "step/rank_runtime.h"

namespace convoy {

inline std::string checkpoint_directory(const Parameters& params) {
  return params.run.directory + "/checkpoints";
}

struct Resumed {
  std::string path;
  io::TrainingState state;
  std::string changes = {};  ///< what changes_since() says; of rank 0
};

/// Fills the parameters (and the optimizer's state on a restart) of all ranks. Rank 0 reads and verifies, the others
/// receive. Returns the checkpoint that is resumed, nothing where training begins. All ranks of the world.
/// A file that checkpoint.resume names is where a run begins; once its run.directory holds checkpoints of its own, the
/// same command resumes from those. Throws RequestError where checkpoint.resume or init.weights cannot be followed.
/// A checkpoint of training on other data is refused too, but for checkpoint.allow_other_data; where the best value was
/// measured on other data than now, the resumed state has none.
std::optional<Resumed> start_parameters(const Parameters& params, const RunData& data, RankRuntime& runtime);

/// The same where this run was before step `step`: from its newest checkpoint of an earlier one, or from where the run
/// began. Throws RequestError where that is not before `step`.
std::optional<Resumed> start_before(const Parameters& params, const RunData& data, std::int64_t step,
                                    RankRuntime& runtime);

/// A file's verified bytes; an empty path for none.
struct FoundFile {
  std::string path;
  std::vector<std::byte> bytes;
  std::string prefix = {};  ///< of the names of its tensors, to be removed: init.strip_prefix, if init.weights names it
  std::string choice = {};  ///< " (the best, of step 20; the newest is of step 30)", where a rule has chosen the file
};

/// What there is to evaluate or to export: init.weights or checkpoint.resume where the command line has them name a
/// file; else, as those of a parameter file say where a run began, what the run in run.directory has learnt: its best
/// checkpoint, or the newest where it has no best one. If it has none at all, those files. Of a checkpoint in parts
/// the bytes are those of one that holds its weights itself. Throws RequestError where there is nothing. One rank.
FoundFile find_weights(const Request& request);

/// best.h5 of run.directory, which a run has whose best step so far is `step`. Its path is empty if the file does not
/// exist, and, with a warning, if it cannot be read or is of another step. Its bytes are those of a checkpoint that
/// holds its weights itself. One rank.
FoundFile find_best(const Parameters& params, std::int64_t step);

/// The file, read and verified, that a training of these parameters would resume from; none where it would begin.
/// Throws RequestError where checkpoint.resume cannot be followed, and where the run directory records a checkpoint but
/// holds none; Error where all checkpoints are damaged. One rank.
FoundFile find_start(const Parameters& params);

/// Whether checkpoint.resume names a file that the run begins from.
bool begins_from_file(const Parameters& params);

/// Throws RequestError where a training with these parameters and data cannot continue from the checkpoint.
void check_continues(const Parameters& params, const RunData& data, const io::Checkpoint& checkpoint,
                     const Resumed& resumed);

/// "optimizer.lr 0.1 -> 0.2; learning rate of step 11: 0.1 -> 0.2", of what changes the result and is not as it was
/// when the checkpoint was written; empty where nothing is.
std::string changes_since(const io::Checkpoint& checkpoint, const std::string& where, const Parameters& now,
                          const io::DatasetInfo& data);

/// "changed since FILE: optimizer.lr 0.1 -> 0.2"; empty where there are no changes.
std::string describe_changes(const std::string& changes, const std::string& where);

/// What gave the checkpoint's run its first weights, and is not read any more: "init.weights = A is not used: ...";
/// empty where it is the same as then, or random.
std::string describe_unused_weights(const Parameters& now, const io::Checkpoint& checkpoint, const std::string& where);

}  // namespace convoy
