/// The device that a run computes on, from its parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/ops/backend.h"
#include "convoy/params/parameters.h"

namespace convoy {

/// Ranks that compute on a CPU get processors of their own, as run.placement says. Once, before the first backend is
/// made: its memory then lies near its threads. All ranks of world.
void place_on_processors(const RunParams& run, const mpi::Communicator& world);

/// Sentences about what slows the ranks' threads down or ends them, and about settings of OpenMP that are not followed.
/// Before ranks are placed. All ranks of world; on rank 0, elsewhere none.
std::vector<std::string> thread_warnings(const RunParams& run, const mpi::Communicator& world);

/// `threads` of each rank, and which of its node's ranks this one is.
ops::BackendSpec backend_spec(const Parameters& params, std::int64_t threads, std::int64_t local_rank);

/// Throws RequestError where train.precision is not one of the device's.
void check_precision(PrecisionKind precision, const Device& device);

}  // namespace convoy
