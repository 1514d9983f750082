/// Computes steps of a run again, to find out whether the results are the same.
#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/communicator.h"
#include "convoy/ops/backend.h"

namespace convoy {

struct Parameters;
class StatusBoard;

/// Trains the steps of params.replay once more, on the grid of these parameters, from the newest checkpoint of
/// run.directory before them. Writes no files; prints whether each loss and each fingerprint equals the one in the
/// run's steps.csv. Returns kFailed if one differs. Throws RequestError if the run has no such steps. All ranks of
/// world call it.
ExitStatus replay(const Parameters& params, const mpi::Communicator& world, ops::Backend& backend, StatusBoard& board);

}  // namespace convoy
