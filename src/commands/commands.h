/// Declares one function for each command; commands.cpp finds them by the command's name.
#pragma once

#include "convoy/base/error.h"
#include "convoy/params/parse.h"

#include "watch/watch.h"

namespace convoy::commands {

// All ranks call these functions, in an MPI job.
ExitStatus train(const Request& request, Watch& watch);
ExitStatus evaluate(const Request& request, Watch& watch);
ExitStatus predict(const Request& request, Watch& watch);
ExitStatus import(const Request& request, Watch& watch);
ExitStatus replay(const Request& request, Watch& watch);
ExitStatus sweep(const Request& request, Watch& watch);
ExitStatus plan(const Request& request, Watch& watch);
/// Runs `convoy check` of a parameter file, or `convoy train --dry-run`: checks parameters, data, machines, memory and
/// the run directory, and trains nothing.
ExitStatus check_parameters(const Request& request, Watch& watch);
/// Describes the machine and the processors that each rank may use: `convoy info` without paths.
ExitStatus info_of_ranks(const Request& request, Watch& watch);

// One process calls these functions, without MPI.
ExitStatus export_weights(const Request& request);
ExitStatus watch(const Request& request);
ExitStatus compare(const Request& request);
ExitStatus join(const Request& request);
ExitStatus info(const Request& request);
/// Verifies the checkpoints and data files whose paths are given: `convoy check FILE ...`.
ExitStatus check_files(const Request& request);
ExitStatus help(const Request& request);
ExitStatus version(const Request& request);

}  // namespace convoy::commands
