/// Measures one row of a sweep: a short training or prediction.
#pragma once

#include <optional>

#include "convoy/comm/communicator.h"
#include "convoy/ops/backend.h"

#include "sweep/sweep_files.h"

namespace convoy {

struct Parameters;
class StatusBoard;

/// Measures a row on the group `ranks`, all of which call it. The result is complete on rank 0 only. Empty if a signal
/// asked to stop before the end. Throws RequestError on all ranks if parameters, data or memory do not allow the row.
/// The costs that the planner measures are stored in costs.txt in run.directory.
std::optional<RowMeasurement> measure_row(const Parameters& params, const mpi::Communicator& ranks,
                                          ops::Backend& backend, StatusBoard& board);

}  // namespace convoy
