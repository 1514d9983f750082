/// Makes all ranks compute with the same engines of a device's library: two that measured for themselves could choose
/// differently, and engines differ in their last bits.
#pragma once

#include <string>

#include "convoy/comm/communicator.h"
#include "convoy/model/network.h"
#include "convoy/ops/library.h"
#include "convoy/params/parameters.h"

namespace convoy {

/// Where a run keeps what was measured.
inline std::string plans_path(const RunParams& run) {
  return run.plans.empty() ? run.directory + "/plans.txt" : run.plans;
}

/// Rank 0 takes what the library has, or else what `file` holds (nothing where there is none), plans the whole network,
/// which measures the rest, and all ranks take the result. Nothing where the library measures nothing. All ranks of
/// world.
void share_plans(const Network& network, const mpi::Communicator& world, const std::string& file,
                 ops::Library& library);

}  // namespace convoy
