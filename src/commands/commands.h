/// One function per command; commands.cpp finds them by name.
#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/session.h"
#include "convoy/params/parse.h"

namespace convoy::commands {

ExitStatus train(const Request& request, mpi::Session& session);
ExitStatus evaluate(const Request& request, mpi::Session& session);
ExitStatus predict(const Request& request, mpi::Session& session);
ExitStatus import(const Request& request, mpi::Session& session);
ExitStatus export_weights(const Request& request, mpi::Session& session);
ExitStatus replay(const Request& request, mpi::Session& session);
ExitStatus watch(const Request& request, mpi::Session& session);
ExitStatus compare(const Request& request, mpi::Session& session);
ExitStatus join(const Request& request, mpi::Session& session);
ExitStatus sweep(const Request& request, mpi::Session& session);
ExitStatus plan(const Request& request, mpi::Session& session);
ExitStatus info(const Request& request, mpi::Session& session);
/// Of a request that is a preflight.
ExitStatus check_parameters(const Request& request, mpi::Session& session);
ExitStatus check(const Request& request, mpi::Session& session);
ExitStatus help(const Request& request, mpi::Session& session);
ExitStatus version(const Request& request, mpi::Session& session);

}  // namespace convoy::commands
