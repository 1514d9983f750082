/// convoy plan: shows what train would do on these ranks.
#include <fmt/format.h>

#include "convoy/train/trainer.h"

#include "commands/commands.h"

namespace convoy::commands {

ExitStatus plan(const Request& request, mpi::Session& session) {
  if (session.world().rank() == 0) fmt::print("{}", describe_plan(request.params, session.world().size()));
  return ExitStatus::kDone;
}

}  // namespace convoy::commands
