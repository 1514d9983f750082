/// The program: what is asked for, and who does it.
#include "convoy/comm/session.h"
#include "convoy/commands/commands.h"
#include "convoy/params/parse.h"

int main(int argc, char** argv) {
  return convoy::mpi::run_guarded(argc, argv, [&](convoy::mpi::Session& session) {
    // 1. What is asked for
    const convoy::Request request = convoy::parse_command_line(argc, argv);
    // 2. Do it, on all ranks
    return convoy::commands::run(request, session);
  });
}
