/// A training run, an evaluation and a prediction, from parameters to exit status.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/base/error.h"
#include "convoy/comm/process_grid.h"
#include "convoy/ops/library.h"
#include "convoy/params/parameters.h"

namespace convoy {

/// Trains until train.epochs or train.max_steps, or until one of the stop signals, which the caller has caught from
/// early on, has come to any rank (kStoppedEarly, with a checkpoint, after a step at least). All ranks of the grid's
/// world.
ExitStatus train(const Parameters& params, const ProcessGrid& grid, ops::Library& library);

/// Loss, top-1 and top-5 of data.test: of init.weights if it names a checkpoint, else of the newest in run.directory.
ExitStatus evaluate(const Parameters& params, const ProcessGrid& grid, ops::Library& library);

/// Writes what the same weights make of predict.data: a row a sample in predict.output, logits in a .h5 file beside it.
/// The same bytes on any grid.
ExitStatus predict(const Parameters& params, const ProcessGrid& grid, ops::Library& library);

/// What train() would do on `ranks` ranks, without doing it: the grid, the stages and their memory, the step drawn.
/// Draws it into plan.draw too, where that is a file.
std::string describe_plan(const Parameters& params, std::int64_t ranks);

}  // namespace convoy
