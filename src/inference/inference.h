/// Runs the commands that use trained weights: `convoy evaluate`, `convoy predict`, `convoy export`.
#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/process_grid.h"
#include "convoy/ops/backend.h"

namespace convoy {

struct Request;
class StatusBoard;

/// Measures loss, top-1, top-5, balanced accuracy and macro F1 on data.test or, without it, on data.val. The weights
/// are those of the best checkpoint in run.directory (the newest if there is no best one), or of the file that the
/// command line names. All ranks of the grid call it.
ExitStatus evaluate(const Request& request, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board);

/// Writes a row for each sample of predict.data to predict.output, and its logits to a .h5 file next to it. The weights
/// are those that evaluate() would use. Any grid writes the same bytes. All ranks of the grid call it.
ExitStatus predict(const Request& request, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board);

/// Writes the weights to export.output, in the form that torchvision's load_state_dict reads, and prints what was
/// written. The weights are those that evaluate() would use. Throws RequestError if there are none. Only one rank calls
/// it.
ExitStatus export_weights(const Request& request);

}  // namespace convoy
