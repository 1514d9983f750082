/// The commands of the program, by name.
#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/session.h"
#include "convoy/params/parse.h"

namespace convoy::commands {

/// Whether the command line asks for a command that any machine can run: it does without MPI.
bool needs_no_mpi(int argc, const char* const* argv);
/// Runs it, in this process alone.
ExitStatus run_without_mpi(const Request& request);

/// Runs request.command on all ranks of the session.
ExitStatus run(const Request& request, mpi::Session& session);

}  // namespace convoy::commands
