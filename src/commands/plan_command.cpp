/// convoy plan: shows what train would do on these ranks.
#include <fmt/format.h>

#include "convoy/train/trainer.h"

#include "commands/commands.h"

namespace convoy::commands {

ExitStatus plan(const Request& request, mpi::Session& session) {
  // Started alone it plans one replica: on a login node nobody has the ranks that the job will have.
  const std::int64_t world = session.world().size(), wanted = request.params.plan.ranks;
  const std::int64_t ranks = wanted > 0 ? wanted : world > 1 ? world : request.params.grid.stages;
  if (session.world().rank() == 0) fmt::print("{}", describe_plan(request.params, ranks));
  return ExitStatus::kDone;
}

}  // namespace convoy::commands
