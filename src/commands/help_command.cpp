/// convoy help, convoy version.
#include <fmt/format.h>

#include "commands/commands.h"

namespace convoy::commands {

ExitStatus help(const Request& request, mpi::Session& session) {
  const std::string text = help_text(request.arguments);  // on all ranks: it may refuse
  if (session.world().rank() == 0) fmt::print("{}", text);
  return ExitStatus::kDone;
}

ExitStatus version(const Request&, mpi::Session& session) {
  if (session.world().rank() == 0) fmt::print("convoy {}\n", CONVOY_VERSION);
  return ExitStatus::kDone;
}

}  // namespace convoy::commands
