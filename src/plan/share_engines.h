/// Makes all ranks compute with the same engines of a device's backend: two ranks that measured for themselves could
/// choose different engines, whose results differ in their last bits.
#pragma once

#include <string>

#include "convoy/comm/communicator.h"
#include "convoy/model/network.h"
#include "convoy/ops/backend.h"
#include "convoy/params/parameters.h"

namespace convoy {

/// Where a run keeps what was measured.
inline std::string engines_path(const RunParams& run) {
  return run.plans.empty() ? run.directory + "/plans.txt" : run.plans;
}

/// Rank 0 takes what the backend has, or else what `file` holds (nothing where there is none), creates the operations
/// of the whole network, which measures the rest, and all ranks take the result. Nothing where the backend measures
/// nothing. All ranks of world.
void share_engines(const Network& network, const mpi::Communicator& world, const std::string& file,
                   ops::Backend& backend);

}  // namespace convoy
