/// convoy watch: a run in the terminal. Needs no MPI, so that it works where no job may be started.
#include <algorithm>
#include <string_view>

#include "convoy/base/error.h"
#include "convoy/commands/commands.h"

#include "commands/commands.h"
#include "dashboard/dashboard.h"

namespace convoy::commands {

namespace {

ExitStatus watch_alone(const Request& request) {
  if (request.arguments.size() != 1) refuse("convoy watch needs one run directory, as in convoy watch runs/convoy");
  return watch_run(request.arguments.front(), request.params.watch.once);
}

}  // namespace

ExitStatus watch(const Request& request, mpi::Session& session) {
  return session.world().rank() == 0 ? watch_alone(request) : ExitStatus::kDone;
}

// Its help is a command like any other.
bool needs_no_mpi(int argc, const char* const* argv) {
  const auto asks_for_help = [](std::string_view argument) { return argument == "--help" || argument == "-h"; };
  return argc > 1 && std::string_view(argv[1]) == "watch" && std::none_of(argv + 2, argv + argc, asks_for_help);
}

ExitStatus run_without_mpi(const Request& request) {
  return watch_alone(request);
}

}  // namespace convoy::commands
