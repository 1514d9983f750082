/// Work that may fail on some ranks only - rank 0 finds no checkpoint, one disk is full - and then fails on all.
#pragma once

#include <functional>

#include "convoy/comm/communicator.h"

namespace convoy::mpi {

/// Runs `work` on rank 0 of the group. An Error or RequestError that it throws is thrown by every rank alike, so that
/// none goes on alone. All ranks of the group; blocking.
void on_root(const Communicator& group, const std::function<void()>& work);

/// Runs `work`, which must not wait for other ranks, on every rank. Where it throws an Error or RequestError, that of
/// the lowest such rank is thrown by every rank. All ranks of the group; blocking.
void on_all(const Communicator& group, const std::function<void()>& work);

}  // namespace convoy::mpi
