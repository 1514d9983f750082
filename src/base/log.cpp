/// Lines on standard error, written whole so that ranks do not cut into each other.
#include "convoy/base/log.h"

#include <cstdio>
#include <string>

namespace convoy {

namespace {

void write_line(std::string_view prefix, std::string_view message) noexcept {
  try {
    std::string line(prefix);
    line.append(message).append("\n");
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
  } catch (...) {  // out of memory: the message is lost, the program is not
  }
}

}  // namespace

void log_warning(std::string_view message) noexcept {
  write_line("convoy: warning: ", message);
}
void log_error(std::string_view message) noexcept {
  write_line("convoy: ", message);
}

}  // namespace convoy
