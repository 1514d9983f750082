/// One function per command; commands.cpp finds them by name.
#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/session.h"
#include "convoy/params/parse.h"

namespace convoy::commands {

// On all ranks of a session.
ExitStatus train(const Request& request, mpi::Session& session);
ExitStatus evaluate(const Request& request, mpi::Session& session);
ExitStatus predict(const Request& request, mpi::Session& session);
ExitStatus import(const Request& request, mpi::Session& session);
ExitStatus replay(const Request& request, mpi::Session& session);
ExitStatus sweep(const Request& request, mpi::Session& session);
ExitStatus plan(const Request& request, mpi::Session& session);
/// Runs a request that is a preflight.
ExitStatus check_parameters(const Request& request, mpi::Session& session);
/// Describes the machine and what each rank may use: info without paths.
ExitStatus info_of_ranks(const Request& request, mpi::Session& session);

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
