/// The commands of the program, by name.
#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/session.h"
#include "convoy/params/parse.h"

namespace convoy::commands {

/// Runs request.command on all ranks of the session.
ExitStatus run(const Request& request, mpi::Session& session);

}  // namespace convoy::commands
