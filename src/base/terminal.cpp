/// Asks the system about the terminal, and writes to standard output.
#include "convoy/base/terminal.h"

#include <array>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "convoy/base/print.h"
#include "convoy/base/text.h"

namespace convoy {

namespace {

std::atomic<bool> unfinished_line = false;

}  // namespace

// mpirun gives its ranks a terminal or a pipe of their own, wherever its output goes.
bool is_terminal(int descriptor) {
  const bool is_rank = std::getenv("OMPI_COMM_WORLD_RANK") != nullptr;
  if (!is_rank) return isatty(descriptor) != 0;
  if (descriptor == STDOUT_FILENO && isatty(descriptor) == 0) return false;
  std::array<char, PATH_MAX> target{};
  const std::string link = fmt::format("/proc/{}/fd/{}", getppid(), descriptor);
  const ssize_t length = readlink(link.c_str(), target.data(), target.size() - 1);
  const std::string_view name(target.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return name.starts_with("/dev/pts/") || name.starts_with("/dev/tty");
}

std::optional<int> terminal_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

void set_unfinished_line(bool is_there) {
  unfinished_line = is_there;
}

bool has_unfinished_line() {
  return unfinished_line;
}

// Does not check for errors: the program's end asks the stream whether all was written.
void print_text(std::string_view text) {
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

}  // namespace convoy
