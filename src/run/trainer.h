/// Runs a training, from parameters to exit status, and describes what it would do.
#pragma once

#include <string>

#include "convoy/base/error.h"
#include "convoy/comm/communicator.h"
#include "convoy/ops/backend.h"

namespace convoy {

struct Parameters;
class StatusBoard;

/// Trains until train.epochs or train.max_steps is reached, or until any rank receives a signal that requests a stop
/// (convoy/comm/stop_signals.h), which the caller has begun to catch. In the last case it writes a checkpoint after at
/// least one step, and returns kStoppedEarly. The grid has grid.stages stages; if that is auto, the number with the
/// shortest predicted step. All ranks of world call it.
ExitStatus train(const Parameters& params, const mpi::Communicator& world, ops::Backend& backend, StatusBoard& board);

/// Returns a description of what train() would do on plan.ranks ranks: the grid, the stages and their memory, the step
/// as a drawing. If plan.ranks has several numbers, it is for the first; if it is empty, for the ranks of world, or for
/// one replica if there is only one rank. The drawing is also written to plan.draw if that is set. With plan.ranks, a
/// table of layouts follows for each number. Costs are measured with `backend` on the ranks of world and stored in
/// run.directory; if `backend` is null, they come from a model. All ranks of world call it; the result is empty except
/// on rank 0.
std::string describe_plan(const Parameters& params, const mpi::Communicator& world, ops::Backend* backend);

}  // namespace convoy
