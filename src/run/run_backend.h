/// Chooses the processors and the device on which a rank computes, by the run's parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/ops/backend.h"
#include "convoy/params/choices.h"

namespace convoy {

class Device;
struct Parameters;
struct RunParams;

/// Gives each rank that computes on a CPU processors of its own, as run.placement says. All ranks of the world call it
/// once, before the first backend is made, so that a rank's memory lies near its threads.
void place_on_processors(const RunParams& run, const mpi::Communicator& world);

/// Returns sentences about what slows down the ranks' threads or kills them, and about OpenMP settings that are
/// ignored; on rank 0 only. All ranks of the world call it before ranks are placed.
std::vector<std::string> thread_warnings(const RunParams& run, const mpi::Communicator& world);

/// Returns the specification of a rank's backend. `threads` is its number of threads, `local_rank` the rank's index on
/// its node.
ops::BackendSpec backend_spec(const Parameters& params, std::int64_t threads, std::int64_t local_rank);

/// Throws RequestError if the device does not support train.precision.
void check_precision(PrecisionKind precision, const Device& device);

}  // namespace convoy
