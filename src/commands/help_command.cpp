/// convoy help, convoy version.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "convoy/base/terminal.h"

#include "commands/commands.h"

namespace convoy::commands {

namespace {

// COLUMNS, where the person gives it; the terminal's; 80 where there is none. Longer lines are hard to read.
int text_columns() {
  constexpr int kUsual = 80, kMin = 40, kMax = 100;
  const char* const given = std::getenv("COLUMNS");
  const int columns = given != nullptr ? std::atoi(given) : 0;
  return std::clamp(columns > 0 ? columns : terminal_columns().value_or(kUsual), kMin, kMax);
}

}  // namespace

ExitStatus help(const Request& request, mpi::Session& session) {
  const std::string text = help_text(request.arguments, text_columns());  // on all ranks: it may refuse
  if (session.world().rank() == 0) fmt::print("{}", text);
  return ExitStatus::kDone;
}

ExitStatus version(const Request&, mpi::Session& session) {
  if (session.world().rank() == 0) fmt::print("convoy {}\n", CONVOY_VERSION);
  return ExitStatus::kDone;
}

}  // namespace convoy::commands
