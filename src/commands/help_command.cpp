/// convoy help, convoy version.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "convoy/base/print.h"
#include "convoy/base/terminal.h"
#include "convoy/base/version.h"
#include "convoy/model/network.h"
#include "convoy/model/network_file.h"

#include "commands/commands.h"

namespace convoy::commands {

namespace {

// Returns COLUMNS if it is set, else the terminal's width, else 80. Longer lines are hard to read.
int text_columns() {
  constexpr int kUsual = 80, kMin = 40, kMax = 100;
  const char* const given = std::getenv("COLUMNS");
  const int columns = given != nullptr ? std::atoi(given) : 0;
  return std::clamp(columns > 0 ? columns : terminal_columns().value_or(kUsual), kMin, kMax);
}

std::vector<NetworkHelp> networks() {
  std::vector<NetworkHelp> rows;
  for (const NetworkFamilyNames& family : network_family_names()) {
    std::vector<std::string> quoted;
    for (const std::string& name : family.names) quoted.push_back(fmt::format("`{}`", name));
    rows.push_back({.names = fmt::format("{}", fmt::join(quoted, ", ")), .sentence = family.about});
  }
  return rows;
}

}  // namespace

ExitStatus help(const Request& request) {
  print("{}", request.as_markdown ? markdown_help(networks(), describe_layer_functions())
                                  : help_text(request.arguments, text_columns()));
  return ExitStatus::kDone;
}

ExitStatus version(const Request&) {
  print("convoy {}\n", convoy::version());
  return ExitStatus::kDone;
}

}  // namespace convoy::commands
