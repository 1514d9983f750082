/// One row of a sweep: a short training or prediction, timed.
#pragma once

#include <optional>

#include "convoy/comm/communicator.h"
#include "convoy/ops/backend.h"
#include "convoy/params/parameters.h"

#include "sweep/row_result.h"

namespace convoy {

class StatusBoard;

/// On all ranks of `ranks`, which all call it. What is measured is known on rank 0 alone; nothing where a stop was
/// requested before it was done. Throws RequestError, on all ranks alike, where parameters, data or memory forbid it.
/// What the planner measures of the machine is kept in costs.txt of run.directory.
std::optional<RowMeasurement> measure_row(const Parameters& params, const mpi::Communicator& ranks,
                                          ops::Backend& backend, StatusBoard& board);

}  // namespace convoy
