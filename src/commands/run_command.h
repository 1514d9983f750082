/// Runs the commands of the program.
#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/launch.h"

namespace convoy {
struct Request;
class Watch;
}  // namespace convoy

namespace convoy::commands {

/// Whether the command of the request runs on ranks of MPI, one or several. Other commands run without MPI, which may
/// not start at all on a login node. `is_launched`: whether mpirun or srun started the process.
bool needs_ranks(const Request& request, bool is_launched);

/// Whether a command line that could not be parsed needs ranks of MPI, judged by its first word.
bool needs_ranks(int argc, char** argv, bool is_launched);

/// Runs request.command, which needs no MPI, in the first of the launched processes.
ExitStatus run_alone(const Request& request, const Launch& launch);

/// Runs request.command, which needs MPI, on all ranks of `watch`'s world.
ExitStatus run(const Request& request, const Launch& launch, Watch& watch);

}  // namespace convoy::commands
