/// Lines on standard error, written whole so that ranks do not cut into each other.
#include "convoy/base/log.h"

#include <cstdio>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "convoy/base/terminal.h"
#include "convoy/base/text.h"

namespace convoy {

namespace {

struct Listening {
  std::mutex mutex;
  WarningListener listener;
  bool has_listened = false;
  std::vector<std::string> early;  // before the first listener
};

Listening& listening() {
  static Listening instance;
  return instance;
}

void write_line(std::string_view prefix, std::string_view message) noexcept {
  try {
    std::string line(has_unfinished_line() && is_terminal(STDERR_FILENO) ? kClearLine : "");
    line.append(prefix).append(printable(message)).append("\n");
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
  } catch (...) {  // out of memory: the message is lost, the program is not
  }
}

}  // namespace

void log_warning(std::string_view message) noexcept {
  write_line("convoy: warning: ", message);
  try {
    const std::lock_guard lock(listening().mutex);
    if (listening().listener) listening().listener(message);
    if (!listening().has_listened) listening().early.emplace_back(message);
  } catch (...) {  // it has been said on standard error
  }
}

void set_warning_listener(WarningListener listener) {
  const std::lock_guard lock(listening().mutex);
  listening().listener = std::move(listener);
  if (!listening().listener) return;
  listening().has_listened = true;
  for (const std::string& message : std::exchange(listening().early, {})) listening().listener(message);
}

void log_error(std::string_view message) noexcept {
  write_line("convoy: ", message);
}

}  // namespace convoy
