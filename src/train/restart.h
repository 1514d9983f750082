/// Where training starts: the newest checkpoint that verifies, a given one, given weights, or random ones.
#pragma once

#include <optional>
#include <string>

#include "convoy/io/checkpoint.h"
#include "convoy/params/parameters.h"

#include "train/engine.h"

namespace convoy {

inline std::string checkpoint_directory(const Parameters& params) {
  return params.run.directory + "/checkpoints";
}

/// Fills the parameters (and the optimizer's state on a restart) of all ranks. Rank 0 reads and verifies, the others
/// receive. Returns the state of the checkpoint that is resumed, nothing where training begins. All ranks of the world.
/// Throws RequestError where checkpoint.resume or init.weights cannot be followed.
std::optional<io::TrainingState> start_parameters(const Parameters& params, Engine& engine);

/// For evaluation: init.weights, or the newest checkpoint of run.directory. Returns the file's path (rank 0's).
std::string load_for_evaluation(const Parameters& params, Engine& engine);

}  // namespace convoy
