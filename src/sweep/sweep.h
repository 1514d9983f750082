/// Measures how fast this job trains or predicts with each combination of layout, batch and precision, and writes a
/// table.
#pragma once

#include <functional>
#include <memory>

#include "convoy/base/error.h"
#include "convoy/comm/communicator.h"
#include "convoy/ops/backend.h"

namespace convoy {

struct Parameters;
class StatusBoard;

/// A function that creates the backend (the device and its operations) for the parameters of one row of the table. All
/// ranks of the communicator, which are the ranks of the row, call it.
using MakeBackend = std::function<std::unique_ptr<ops::Backend>(const Parameters& params, const mpi::Communicator&)>;

/// Measures the combinations that params.sweep lists, and keeps sweep.csv, sweep.md and sweep.svg in run.directory up
/// to date. A row of the table uses the first ranks of the world; the others sleep. Rows that were measured before are
/// not measured again, so the same command continues a sweep that was stopped. Returns kStoppedEarly if a stop was
/// requested, else kDone. Throws RequestError if no combination is listed, if no row can be measured, and if
/// run.directory holds another sweep. All ranks of the world call it.
ExitStatus sweep(const Parameters& params, const mpi::Communicator& world, const MakeBackend& make_backend,
                 StatusBoard& board);

}  // namespace convoy
