/// Runs the commands that use trained weights: `convoy evaluate`, `convoy predict`, `convoy export`.
#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/process_grid.h"
#include "convoy/ops/backend.h"

namespace convoy {

struct Request;
class StatusBoard;

/// Measures all metrics (convoy/base/metrics.h) of the weights that find_weights() finds, on the data set that
/// find_measured_data() finds. Throws RequestError if one of them is missing, or if they do not fit each
/// other, and Error on rank 0 if the loss is infinite or NaN. All ranks of the grid call it.
ExitStatus evaluate(const Request& request, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board);

/// Writes a row for each sample of predict.data to predict.output, and its logits to a .h5 file next to it; any grid
/// writes the same bytes. The weights are those that evaluate() would use. Throws RequestError if weights, samples or
/// output cannot be used, and Error on rank 0 if logits are infinite or NaN. All ranks of the grid call it.
ExitStatus predict(const Request& request, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board);

/// Writes the weights to export.output, in the form that torchvision's load_state_dict reads, and prints what was
/// written. The weights are those that evaluate() would use. Throws RequestError if there are none. Only one rank calls
/// it.
ExitStatus export_weights(const Request& request);

}  // namespace convoy
