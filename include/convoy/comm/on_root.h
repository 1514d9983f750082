/// Work that may fail on some ranks only - rank 0 finds no checkpoint, one disk is full - and then fails on all.
#pragma once

#include <functional>

#include "convoy/comm/communicator.h"

namespace convoy::mpi {

/// Runs `work` on rank 0 of the group, and waits for it on all. If it throws an Error or RequestError, every rank
/// throws it, so that none continues alone. All ranks of the group call it.
void on_root(const Communicator& group, const std::function<void()>& work);

/// Runs `work`, which must not wait for other ranks, on every rank, and waits for all. If it throws an Error or
/// RequestError on some ranks, every rank throws that of the lowest of them. All ranks of the group call it.
void on_all(const Communicator& group, const std::function<void()>& work);

}  // namespace convoy::mpi
