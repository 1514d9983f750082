/// From a command's name to its function.
#include "convoy/commands/commands.h"

#include <map>

#include "convoy/base/log.h"

#include "commands/commands.h"

namespace convoy::commands {

ExitStatus run(const Request& request, mpi::Session& session) {
  static const std::map<std::string, ExitStatus (*)(const Request&, mpi::Session&)> kCommands = {
      {"train", train}, {"evaluate", evaluate}, {"predict", predict}, {"import", import}, {"export", export_weights},
      {"plan", plan},   {"sweep", sweep},       {"replay", replay},   {"watch", watch},   {"compare", compare},
      {"join", join},   {"info", info},         {"check", check},     {"help", help},     {"version", version}};
  if (const std::string unread = describe_unread_keys(request); !unread.empty() && session.world().rank() == 0)
    log_warning(unread);
  return kCommands.at(request.command)(request, session);
}

}  // namespace convoy::commands
