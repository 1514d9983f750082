/// Runs the commands of the program.
#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/launch.h"

namespace convoy {
struct Request;
class Watch;
}  // namespace convoy

namespace convoy::commands {

/// Whether the request is for ranks of MPI, one or several. Other requests run without MPI, which may not start at all
/// on a login node. `is_launched`: whether mpirun or srun started the process.
bool needs_ranks(const Request& request, bool is_launched);

/// Whether a command line that is refused needs ranks, judged by its first word.
bool needs_ranks(int argc, char** argv, bool is_launched);

/// Runs request.command, which needs no ranks, in the first of the launched processes.
ExitStatus run_alone(const Request& request, const Launch& launch);

/// Runs request.command, which needs ranks, on all ranks that `watch` watches.
ExitStatus run(const Request& request, const Launch& launch, Watch& watch);

}  // namespace convoy::commands
