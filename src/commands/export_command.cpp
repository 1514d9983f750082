/// convoy export: trained weights for other programs. Rank 0 works.
#include "convoy/train/export.h"

#include "commands/commands.h"

namespace convoy::commands {

ExitStatus export_weights(const Request& request, mpi::Session& session) {
  if (session.world().rank() == 0) convoy::export_weights(request);
  return ExitStatus::kDone;
}

}  // namespace convoy::commands
