/// The program: reads the request and runs its command.
#include <csignal>

#include "convoy/comm/session.h"
#include "convoy/commands/commands.h"
#include "convoy/params/parse.h"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error with a message, like a full disk, not a crash
  if (convoy::commands::needs_no_mpi(argc, argv))
    return convoy::mpi::run_guarded_alone(
        [&] { return convoy::commands::run_without_mpi(convoy::parse_command_line(argc, argv)); });
  return convoy::mpi::run_guarded(argc, argv, [&](convoy::mpi::Session& session) {
    // 1. What is asked for
    const convoy::Request request = convoy::parse_command_line(argc, argv);
    // 2. Do it, on all ranks
    return convoy::commands::run(request, session);
  });
}
