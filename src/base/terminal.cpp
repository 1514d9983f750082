/// Asks the system for the terminal's width.
#include "convoy/base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace convoy {

std::optional<int> terminal_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

}  // namespace convoy
