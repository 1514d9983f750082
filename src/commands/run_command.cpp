/// Finds a command's function by its name.
#include <array>
#include <csignal>
#include <cstdio>
#include <map>

#include <fmt/core.h>
#include <unistd.h>

#include "convoy/base/log.h"

#include "commands/commands.h"
#include "inference/inference.h"

namespace convoy::commands {

namespace {

struct AloneCommand {
  ExitStatus (*run)(const Request&);
  bool writes_files = false;  ///< false: the command only prints
};

const std::map<std::string, AloneCommand>& alone_commands() {
  static const std::map<std::string, AloneCommand> kCommands = {{"export", {convoy::export_weights, true}},
                                                                {"watch", {watch}},
                                                                {"compare", {compare}},
                                                                {"join", {join, true}},
                                                                {"info", {info}},
                                                                {"check", {check_files}},
                                                                {"help", {help}},
                                                                {"version", {version}}};
  return kCommands;
}

// Keeps the command running when its reader closes (convoy train | head). The buffer keeps text that cannot be written:
// longer texts would be an error otherwise.
void ignore_closed_readers() {
  std::signal(SIGPIPE, SIG_IGN);
  static std::array<char, 1 << 20> buffer;  // must live as long as stdout
  if (isatty(STDOUT_FILENO) == 0) std::setvbuf(stdout, buffer.data(), _IOFBF, buffer.size());
}

void warn_of_keys(const Request& request) {
  for (const std::string& renamed : request.renamed) log_warning(renamed);
  if (const std::string unread = describe_unread_keys(request); !unread.empty()) log_warning(unread);
}

}  // namespace

bool needs_ranks(const Request& request, bool is_launched) {
  if (request.is_preflight) return true;
  if (request.command == "info" && request.arguments.empty()) return is_launched;
  return !alone_commands().contains(request.command);
}

// Some requests for info and check are for all ranks, and other ranks may see no reason to refuse: so these commands
// need ranks here, too.
bool needs_ranks(int argc, char** argv, bool is_launched) {
  const std::string command = argc < 2 ? "" : argv[1];
  return is_launched && (command == "info" || command == "check" || !alone_commands().contains(command));
}

// A command that only prints ends with its reader, as other programs do: otherwise convoy watch would continue to draw.
ExitStatus run_alone(const Request& request, const Launch& launch) {
  const AloneCommand& command = alone_commands().at(request.command);
  if (command.writes_files) {
    ignore_closed_readers();
    if (launch.size > 1)
      log_warning(fmt::format("convoy {} works in one process: the {} others that were launched do nothing",
                              request.command, launch.size - 1));
  }
  warn_of_keys(request);
  return command.run(request);
}

ExitStatus run(const Request& request, const Launch& launch, WatchdogSession& watchdog) {
  static const std::map<std::string, ExitStatus (*)(const Request&, WatchdogSession&)> kCommands = {
      {"train", train}, {"evaluate", evaluate}, {"predict", predict},    {"import", import},         {"plan", plan},
      {"sweep", sweep}, {"replay", replay},     {"info", info_of_ranks}, {"check", check_parameters}};
  ignore_closed_readers();
  if (watchdog.world().rank() == 0) {
    warn_of_keys(request);
    if (const std::string unused = describe_unused_tasks(launch, request.command); !unused.empty()) log_warning(unused);
  }
  return kCommands.at(request.command)(request, watchdog);
}

}  // namespace convoy::commands
