/// Steps of a run, computed again.
#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/communicator.h"
#include "convoy/ops/backend.h"
#include "convoy/params/parameters.h"

namespace convoy {

class StatusBoard;

/// Trains the steps of params.replay once more, on the grid of these parameters, from the newest checkpoint of
/// run.directory before them, writes nothing, and prints whether each loss and each fingerprint is the one in the run's
/// steps.csv; kFailed where one is not. All ranks of world. Throws RequestError where the run has no such steps.
ExitStatus replay(const Parameters& params, const mpi::Communicator& world, ops::Backend& backend, StatusBoard& board);

}  // namespace convoy
