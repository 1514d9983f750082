/// convoy help, convoy version.
#include <fmt/format.h>

#include "commands/commands.h"

namespace convoy::commands {

ExitStatus help(const Request&, mpi::Session& session) {
  if (session.world().rank() == 0) fmt::print("{}", help_text());
  return ExitStatus::kDone;
}

ExitStatus version(const Request&, mpi::Session& session) {
  if (session.world().rank() == 0) fmt::print("convoy {}\n", CONVOY_VERSION);
  return ExitStatus::kDone;
}

}  // namespace convoy::commands
