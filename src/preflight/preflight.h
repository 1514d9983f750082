/// Checks, before a training is started, whether it would run on these machines.
#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/communicator.h"

namespace convoy {

struct Request;
class StatusBoard;

namespace preflight {

/// Runs `convoy check FILE.cfg` or `convoy train --dry-run`. The dry run sends no test messages between stages, writes
/// nothing, and also prints what a training would do. Rank 0 prints a table of checks, each with its result. Returns
/// kWrongRequest on all ranks if a check fails, else kDone. A failure on one rank keeps no other rank waiting. All
/// ranks of world call it.
ExitStatus run(const Request& request, const mpi::Communicator& world, StatusBoard& board);

}  // namespace preflight

}  // namespace convoy
