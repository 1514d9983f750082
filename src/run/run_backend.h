/// Chooses the device that a run computes on, from its parameters.
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

/// Gives ranks that compute on a CPU processors of their own, as run.placement says. Called once, before the first
/// backend is made, so that its memory lies near its threads. All ranks of world.
void place_on_processors(const RunParams& run, const mpi::Communicator& world);

/// Returns sentences about what slows the ranks' threads down or ends them, and about OpenMP settings that are not
/// followed. Called before ranks are placed. All ranks of world; empty except on rank 0.
std::vector<std::string> thread_warnings(const RunParams& run, const mpi::Communicator& world);

/// `threads` is the number of threads of each rank, `local_rank` the rank's number on its node.
ops::BackendSpec backend_spec(const Parameters& params, std::int64_t threads, std::int64_t local_rank);

/// Throws RequestError if the device does not support train.precision.
void check_precision(PrecisionKind precision, const Device& device);

}  // namespace convoy
