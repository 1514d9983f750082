/// Handles the terminal: its size and its keys. Its settings are restored at the end.
#include "dashboard/dashboard.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <fmt/core.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "convoy/base/clock.h"
#include "convoy/io/run_lock.h"

#include "dashboard/drawing.h"
#include "dashboard/run_reader.h"

namespace convoy {

namespace {

constexpr int kRedrawMilliseconds = 2000;
constexpr char kCtrlC = 3;

volatile std::sig_atomic_t must_leave = 0;

extern "C" void leave(int) {
  must_leave = 1;
}

// A separate screen for the picture. Keys, including Ctrl-C, are read one by one and are not echoed.
class Screen {
 public:
  Screen() {
    tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    for (const int signal : {SIGTERM, SIGHUP}) std::signal(signal, leave);
    fmt::print("\033[?1049h\033[?25l");
  }
  ~Screen() {
    fmt::print("\033[?25h\033[?1049l");
    std::fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  static void show(const std::string& picture) {
    fmt::print("\033[H\033[2J{}", picture);
    std::fflush(stdout);
  }

  // Waits for a key or until the next picture is due. Returns whether to continue.
  static bool wait() {
    pollfd keys{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (poll(&keys, 1, kRedrawMilliseconds) > 0) {
      char key = 'q';  // leaves, too, if the terminal no longer exists
      if (::read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q' || key == kCtrlC) return false;
    }
    return must_leave == 0;
  }

 private:
  termios before_{};
};

// The first of these variables that is set decides.
bool speaks_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const locale = std::getenv(name);
    if (locale == nullptr || *locale == '\0') continue;
    const std::string_view text(locale);
    return text.find("UTF-8") != std::string_view::npos || text.find("utf8") != std::string_view::npos;
  }
  return false;
}

Style style_of_terminal() {
  constexpr int kUsualColumns = 80, kMinColumns = 40;
  const bool is_terminal = isatty(STDOUT_FILENO) != 0;
  const char* const no_colour = std::getenv("NO_COLOR");
  const char* const columns = std::getenv("COLUMNS");
  Style style{.columns = columns != nullptr ? std::atoi(columns) : kUsualColumns,
              .colour = is_terminal && (no_colour == nullptr || *no_colour == '\0'),
              .unicode = speaks_unicode()};
  winsize size{};
  if (is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.columns = size.ws_col;
    style.lines = size.ws_row;
  }
  if (style.columns < kMinColumns) style.columns = style.columns > 0 ? kMinColumns : kUsualColumns;
  return style;
}

std::string picture_of(const RunReader& reader, const std::string& directory) {
  return draw(reader.run(),
              {.directory = directory, .now = wall_clock_seconds(), .is_locked = io::is_locked(directory)},
              style_of_terminal());
}

}  // namespace

ExitStatus watch_run(const std::string& directory, bool once) {
  std::error_code unknown;  // a path that cannot be followed is not a directory
  if (!std::filesystem::is_directory(directory, unknown))
    refuse(
        "{} is not a directory. convoy watch needs the directory of a run (its run.directory), as in convoy watch "
        "runs/convoy",
        directory);
  RunReader reader(directory);
  if (!reader.update() || !reader.run().has_started)
    refuse(
        "{} holds no run that has started: there is no log.jsonl with a row of kind start. A run writes this row after "
        "it has opened its data and chosen its layout",
        directory);
  if (once || isatty(STDOUT_FILENO) == 0 || isatty(STDIN_FILENO) == 0) {
    fmt::print("{}", picture_of(reader, directory));
    return ExitStatus::kDone;
  }
  const Screen screen;
  do {
    reader.update();
    Screen::show(picture_of(reader, directory) + "\npress q to quit");
  } while (Screen::wait());
  return ExitStatus::kDone;
}

}  // namespace convoy
