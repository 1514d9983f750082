/// Declares one function per command; run_command.cpp finds them by name.
#pragma once

#include "convoy/base/error.h"
#include "convoy/params/parse.h"

#include "watch/watch.h"

namespace convoy::commands {

// On all ranks.
ExitStatus train(const Request& request, Watch& watch);
ExitStatus evaluate(const Request& request, Watch& watch);
ExitStatus predict(const Request& request, Watch& watch);
ExitStatus import(const Request& request, Watch& watch);
ExitStatus replay(const Request& request, Watch& watch);
ExitStatus sweep(const Request& request, Watch& watch);
ExitStatus plan(const Request& request, Watch& watch);
/// Runs the preflight of a request.
ExitStatus check_parameters(const Request& request, Watch& watch);
/// Describes the machine and the processors that each rank may use: `convoy info` without paths.
ExitStatus info_of_ranks(const Request& request, Watch& watch);

// In one process, without MPI.
ExitStatus export_weights(const Request& request);
ExitStatus watch(const Request& request);
ExitStatus compare(const Request& request);
ExitStatus join(const Request& request);
ExitStatus info(const Request& request);
/// Verifies the files of the given paths.
ExitStatus check_files(const Request& request);
ExitStatus help(const Request& request);
ExitStatus version(const Request& request);

}  // namespace convoy::commands
