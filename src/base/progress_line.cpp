/// Bar and lines on standard output.
#include "convoy/base/progress_line.h"

#include <cstdio>

#include <fmt/core.h>
#include <unistd.h>

#include "convoy/base/clock.h"
#include "convoy/base/print.h"
#include "convoy/base/terminal.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"

namespace convoy {

namespace {

constexpr double kRedrawSeconds = 0.25, kPlainLineSeconds = 30;
constexpr int kBarWidth = 28, kUsualColumns = 80;
constexpr double kMinRateSeconds = 0.1;  // a rate of a shorter time is none
constexpr double kMinLeftSeconds = 0.5;  // less would be shown as 0 s

}  // namespace

ProgressLine::ProgressLine() : terminal_(is_terminal(STDOUT_FILENO)) {
  next_seconds_ = now_seconds() + (terminal_ ? kRedrawSeconds : kPlainLineSeconds);
}

bool ProgressLine::is_due() const {
  return now_seconds() >= next_seconds_;
}

void ProgressLine::show(const std::string& head, double fraction, const std::string& numbers) {
  next_seconds_ = now_seconds() + (terminal_ ? kRedrawSeconds : kPlainLineSeconds);
  if (!terminal_) {
    print("{}  {}\n", head, numbers);
  } else {
    // A line that wraps could not be redrawn: the bar takes what the numbers leave, and the end is cut.
    const int columns = terminal_columns().value_or(kUsualColumns);
    const auto left = columns - static_cast<int>(head.size() + numbers.size()) - 6;
    const int width = std::clamp(left, 0, kBarWidth);
    const int filled = static_cast<int>(width * std::clamp(fraction, 0.0, 1.0));
    const std::string bar = width < 4 ? "" : fmt::format(" [{:=<{}}{:<{}}]", "", filled, "", width - filled);
    fmt::print("{}{}", kClearLine, cut_to(printable(fmt::format("{}{}  {}", head, bar, numbers)), columns - 1));
    drawn_ = true;
    set_unfinished_line(true);
  }
  std::fflush(stdout);
}

void ProgressLine::line(const std::string& text) {
  clear();
  print("{}\n", text);
  std::fflush(stdout);
}

void ProgressLine::clear() {
  if (!drawn_) return;
  fmt::print(kClearLine);
  drawn_ = false;
  set_unfinished_line(false);
}

void CountedWork::report(const std::string& work, std::int64_t done, double now) {
  if (work != work_) {
    work_ = work;
    first_done_ = done;
    first_seconds_ = now;
  }
  done_ = done;
  seconds_ = now;
}

double CountedWork::rate() const {
  const double seconds = seconds_ - first_seconds_;
  return seconds < kMinRateSeconds ? 0 : static_cast<double>(done_ - first_done_) / seconds;
}

std::string CountedWork::numbers(std::int64_t total, const std::string& note) const {
  std::string text = fmt::format("{}/{}{}", done_, total, note);
  if (rate() <= 0) return text;
  return text + fmt::format("  {:.0f} {}/s", rate(), unit_) +
         shown_seconds_left(static_cast<double>(total - done_) / rate());
}

void CountedProgress::show(const std::string& work, std::int64_t done, std::int64_t total, const std::string& note) {
  counted_.report(work, done, now_seconds());
  if (line_.is_due()) line_.show(work, counted_.fraction(total), counted_.numbers(total, note));
}

std::string shown_seconds_left(double seconds) {
  return seconds < kMinLeftSeconds ? "" : "  " + human_seconds(seconds) + " left";
}

}  // namespace convoy
