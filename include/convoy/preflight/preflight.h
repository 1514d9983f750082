/// Whether a training would run here: what can be known of it before it is started.
#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/communicator.h"
#include "convoy/params/parse.h"

namespace convoy {

class StatusBoard;

namespace preflight {

/// `convoy check FILE.cfg`, and `convoy train --dry-run`, which sends no messages between the stages and writes nothing
/// but says what a training would do. Rank 0 prints a table, a verdict per line; kWrongRequest on all ranks where a
/// line fails, else kDone. What fails on one rank keeps no other waiting. All ranks of world.
ExitStatus run(const Request& request, const mpi::Communicator& world, StatusBoard& board);

}  // namespace preflight

}  // namespace convoy
