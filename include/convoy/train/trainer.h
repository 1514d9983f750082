/// A training run, an evaluation and a prediction, from parameters to exit status.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/base/error.h"
#include "convoy/comm/process_grid.h"
#include "convoy/ops/library.h"
#include "convoy/params/parse.h"

namespace convoy {

/// run.threads or, where that is 0, fair_threads(). All ranks of world.
std::int64_t threads_a_rank(const RunParams& params, const mpi::Communicator& world);

/// Trains until train.epochs or train.max_steps, or until one of the stop signals, which the caller has caught from
/// early on, has come to any rank (kStoppedEarly, with a checkpoint, after a step at least). All ranks of world, on
/// grid.stages stages or, where that is auto, on those that promise the shortest step.
ExitStatus train(const Parameters& params, const mpi::Communicator& world, ops::Library& library);

/// Loss, top-1 and top-5 of data.test, or else data.val: of the newest checkpoint in run.directory, or of the file that
/// the command line names.
ExitStatus evaluate(const Request& request, const ProcessGrid& grid, ops::Library& library);

/// Writes what the same weights make of predict.data: a row a sample in predict.output, logits in a .h5 file beside it.
/// The same bytes on any grid.
ExitStatus predict(const Request& request, const ProcessGrid& grid, ops::Library& library);

/// What train() would do on plan.ranks ranks (of several the first; none: on those of world, and alone on one replica),
/// without doing it: the grid, the stages and their memory, the step drawn. Draws it into plan.draw too, where that is
/// a file. Then, with plan.ranks, a table of layouts for each, by costs that are measured with `library` on the ranks
/// of world and kept in run.directory, or, without a library, by a model. All ranks of world; empty but on rank 0.
std::string describe_plan(const Parameters& params, const mpi::Communicator& world, ops::Library* library);

}  // namespace convoy
