/// A training run, from parameters to exit status, and what it would do as text.
#pragma once

#include <string>

#include "convoy/base/error.h"
#include "convoy/comm/communicator.h"
#include "convoy/ops/backend.h"
#include "convoy/params/parameters.h"

namespace convoy {

class StatusBoard;

/// Trains until train.epochs or train.max_steps, or until one of the stop signals, which the caller has caught from
/// early on, has come to any rank (kStoppedEarly, with a checkpoint, after a step at least). All ranks of world, on
/// grid.stages stages or, where that is auto, on those with the shortest predicted step.
ExitStatus train(const Parameters& params, const mpi::Communicator& world, ops::Backend& backend, StatusBoard& board);

/// What train() would do on plan.ranks ranks (of several the first; none: on those of world, and alone on one replica),
/// without doing it: the grid, the stages and their memory, the step drawn. Draws it into plan.draw too, where that is
/// a file. Then, with plan.ranks, a table of layouts for each, by costs that are measured with `backend` on the ranks
/// of world and kept in run.directory, or, without a backend, by a model. All ranks of world; empty but on rank 0.
std::string describe_plan(const Parameters& params, const mpi::Communicator& world, ops::Backend* backend);

}  // namespace convoy
