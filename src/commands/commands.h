/// Runs the commands of the program. Each has a function, which is found by the command's name.
#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/launch.h"
#include "convoy/params/parse.h"

#include "watchdog/watchdog_session.h"

namespace convoy::commands {

// All ranks call these functions, in an MPI job.
ExitStatus train(const Request& request, WatchdogSession& watchdog);
ExitStatus evaluate(const Request& request, WatchdogSession& watchdog);
ExitStatus predict(const Request& request, WatchdogSession& watchdog);
ExitStatus import(const Request& request, WatchdogSession& watchdog);
ExitStatus replay(const Request& request, WatchdogSession& watchdog);
ExitStatus sweep(const Request& request, WatchdogSession& watchdog);
ExitStatus plan(const Request& request, WatchdogSession& watchdog);
/// Runs `convoy check` of a parameter file, or `convoy train --dry-run`: checks parameters, data, machines, memory and
/// the run directory, and trains nothing.
ExitStatus check_parameters(const Request& request, WatchdogSession& watchdog);
/// Describes the machine and the processors that each rank may use: `convoy info` without paths.
ExitStatus info_of_ranks(const Request& request, WatchdogSession& watchdog);

// One process calls these functions, without MPI.
ExitStatus watch(const Request& request);
ExitStatus compare(const Request& request);
ExitStatus join(const Request& request);
ExitStatus info(const Request& request);
/// Verifies the checkpoints and data files whose paths are given: `convoy check FILE ...`.
ExitStatus check_files(const Request& request);
ExitStatus help(const Request& request);
ExitStatus version(const Request& request);

/// Whether the command of the request runs on ranks of MPI, one or several. Other commands run without MPI, which may
/// not start at all on a login node. `is_launched`: whether mpirun or srun started the process.
bool needs_ranks(const Request& request, bool is_launched);

/// Whether a command line that could not be parsed needs ranks of MPI, judged by its first word.
bool needs_ranks(int argc, char** argv, bool is_launched);

/// Runs request.command, which needs no MPI, in the first of the launched processes.
ExitStatus run_alone(const Request& request, const Launch& launch);

/// Runs request.command, which needs MPI, on all ranks of `watchdog`'s world.
ExitStatus run(const Request& request, const Launch& launch, WatchdogSession& watchdog);

}  // namespace convoy::commands
