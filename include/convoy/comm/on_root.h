/// Runs work that may fail on some ranks only, such as on rank 0 that finds no checkpoint or on one with a full disk,
/// so that it then fails on all ranks.
#pragma once

#include <functional>

#include "convoy/comm/communicator.h"

namespace convoy::mpi {

/// Runs `work` on rank 0 of the group, while the other ranks wait. If it throws an Error or RequestError, every rank
/// throws the same, so that no rank continues alone. All ranks of the group call it.
void on_root(const Communicator& group, const std::function<void()>& work);

/// Runs `work`, which must not wait for other ranks, on every rank, and waits for all. If it throws an Error or
/// RequestError on some ranks, every rank throws the exception of the lowest of them. All ranks of the group call it.
void on_all(const Communicator& group, const std::function<void()>& work);

}  // namespace convoy::mpi
