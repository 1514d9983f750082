/// The commands of the program, by name.
#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/launch.h"
#include "convoy/params/parse.h"

namespace convoy {
class Watch;
}

namespace convoy::commands {

/// Whether the request is for work of several ranks, or of one that may become several. What needs none runs without
/// MPI, which may not start at all on a login node. `is_launched`: by mpirun or srun.
bool needs_ranks(const Request& request, bool is_launched);

/// The same of a command line that is refused: what its first word says.
bool needs_ranks(int argc, char** argv, bool is_launched);

/// Runs request.command, which needs no ranks, in the first of the processes that were launched.
ExitStatus run_alone(const Request& request, const Launch& launch);

/// Runs request.command, which needs ranks, on all ranks that are watched.
ExitStatus run(const Request& request, const Launch& launch, Watch& watch);

}  // namespace convoy::commands
