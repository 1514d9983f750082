/// Measures a table: how fast each layout, batch and precision of a list trains or predicts on the ranks of this job.
#pragma once

#include <functional>
#include <memory>

#include "convoy/base/error.h"
#include "convoy/comm/communicator.h"
#include "convoy/ops/backend.h"
#include "convoy/params/parameters.h"

namespace convoy {

class StatusBoard;

/// The device's operations for a row's parameters, on those of its ranks. All ranks of the group call it.
using MakeBackend = std::function<std::unique_ptr<ops::Backend>(const Parameters& params, const mpi::Communicator&)>;

/// Measures what params.sweep lists, and keeps sweep.csv, sweep.md and sweep.svg in run.directory up to date. A row
/// takes the first ranks of the world; the others sleep. Rows that were measured before are not measured again, so that
/// a sweep that was stopped continues. Throws RequestError where run.directory holds another sweep, and where no row
/// can be measured. All ranks of the world.
ExitStatus sweep(const Parameters& params, const mpi::Communicator& world, const MakeBackend& make_backend,
                 StatusBoard& board);

}  // namespace convoy
