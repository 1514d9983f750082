/// What is done with trained weights: `convoy evaluate`, `convoy predict`, `convoy export`.
#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/process_grid.h"
#include "convoy/ops/backend.h"
#include "convoy/params/parse.h"

namespace convoy {

class StatusBoard;

/// Loss, top-1, top-5, balanced accuracy and macro F1 of data.test, or else data.val: of the newest checkpoint in
/// run.directory, or of the file that the command line names. All ranks of the grid.
ExitStatus evaluate(const Request& request, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board);

/// Writes a row for each sample of predict.data to predict.output, and its logits to a .h5 file beside it. The weights
/// are found as by evaluate(). The same bytes on any grid. All ranks of the grid.
ExitStatus predict(const Request& request, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board);

/// Writes export.output: the weights of the newest checkpoint in run.directory, or of the file that the command line
/// names, as torchvision's load_state_dict takes them. Says what went where. One rank; throws RequestError where there
/// are none.
void export_weights(const Request& request);

}  // namespace convoy
