/// convoy watch: shows a run in the terminal. Needs no MPI, so that it works on hosts where no job may be started.
#include "convoy/base/error.h"

#include "commands/commands.h"
#include "dashboard/dashboard.h"

namespace convoy::commands {

ExitStatus watch(const Request& request) {
  if (request.arguments.size() != 1) refuse("convoy watch needs one run directory, as in convoy watch runs/convoy");
  return watch_run(request.arguments.front(), request.params.watch.once);
}

}  // namespace convoy::commands
