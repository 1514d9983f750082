/// Runs a training, from parameters to exit status, and describes what it would do.
#pragma once

#include <string>

#include "convoy/base/error.h"
#include "convoy/comm/communicator.h"
#include "convoy/ops/backend.h"

namespace convoy {

struct Parameters;
class StatusBoard;

/// Trains until train.epochs or train.max_steps, or until any rank receives one of the stop signals, which the caller
/// has begun to catch (then kStoppedEarly, with a checkpoint, after at least one step). All ranks of world. The grid
/// has grid.stages stages; if that is auto, the number with the shortest predicted step.
ExitStatus train(const Parameters& params, const mpi::Communicator& world, ops::Backend& backend, StatusBoard& board);

/// Describes what train() would do on plan.ranks ranks, without doing it: the grid, the stages and their memory, the
/// step as a drawing. If plan.ranks has several numbers, this is for the first; if it has none, for the ranks of world,
/// or for one replica if there is only one rank. The drawing is also written to plan.draw if that is set. With
/// plan.ranks, a table of layouts follows for each number. Its costs are measured with `backend` on the ranks of world
/// and kept in run.directory; without a backend they come from a model. All ranks of world; empty except on rank 0.
std::string describe_plan(const Parameters& params, const mpi::Communicator& world, ops::Backend* backend);

}  // namespace convoy
