/// What only rank 0 can see or do - which checkpoint is newest, whether the disk takes a file - told to all ranks.
#pragma once

#include <functional>

#include "convoy/comm/communicator.h"

namespace convoy::mpi {

/// Runs `work` on rank 0 of the group. An Error or RequestError that it throws is thrown by every rank alike, so that
/// none goes on alone. All ranks of the group; blocking.
void on_root(const Communicator& group, const std::function<void()>& work);

}  // namespace convoy::mpi
