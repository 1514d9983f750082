/// From a command's name to its function.
#include "convoy/commands/commands.h"

#include <map>

#include "commands/commands.h"

namespace convoy::commands {

ExitStatus run(const Request& request, mpi::Session& session) {
  static const std::map<std::string, ExitStatus (*)(const Request&, mpi::Session&)> kCommands = {
      {"train", train}, {"evaluate", evaluate}, {"predict", predict}, {"import", import}, {"export", export_weights},
      {"plan", plan},   {"info", info},         {"check", check},     {"help", help},     {"version", version}};
  return kCommands.at(request.command)(request, session);
}

}  // namespace convoy::commands
