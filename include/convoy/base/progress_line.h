/// Shows the progress of long work: on a terminal as a bar that is redrawn, otherwise as a plain line now and then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace convoy {

class ProgressLine {
 public:
  ProgressLine();
  /// Removes the bar.
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Whether enough time has passed to call show() again: 0.25 s on a terminal, else 30 s.
  bool is_due() const;
  /// Draws "HEAD [====    ]  NUMBERS", or prints "HEAD  NUMBERS" if standard output is no terminal. `fraction` is the
  /// share of the work that is done, from 0 to 1.
  void show(const std::string& head, double fraction, const std::string& numbers);
  /// Prints the text as a line of its own; the next show() draws the bar below it.
  void line(const std::string& text);
  /// Removes the bar from the terminal.
  void clear();

 private:
  bool terminal_;
  bool drawn_ = false;
  double next_seconds_ = 0;
};

/// Counts equal parts of work and measures their rate: "test  3200/10000  812 images/s  8 s left".
class CountedWork {
 public:
  /// `unit` is the plural name of the parts: "images".
  explicit CountedWork(std::string unit) : unit_(std::move(unit)) {}

  /// Notes that `done` parts of `work` are done at time `now`, in seconds of now_seconds(). When the name of the work
  /// changes, the rate is measured anew, from this report on.
  void report(const std::string& work, std::int64_t done, double now);
  /// Returns the text after the work's name: "3200/10000" and `note`, then, once a rate has been measured, the rate and
  /// the time left.
  std::string numbers(std::int64_t total, const std::string& note = "") const;
  double fraction(std::int64_t total) const {
    return static_cast<double>(done_) / static_cast<double>(std::max<std::int64_t>(1, total));
  }

 private:
  /// Rate in parts per second; 0 if not measured yet.
  double rate() const;

  std::string unit_, work_;
  std::int64_t first_done_ = 0, done_ = 0;
  double first_seconds_ = 0, seconds_ = 0;
};

/// A ProgressLine that shows CountedWork.
class CountedProgress {
 public:
  explicit CountedProgress(std::string unit) : counted_(std::move(unit)) {}

  void show(const std::string& work, std::int64_t done, std::int64_t total, const std::string& note = "");
  void clear() { line_.clear(); }

 private:
  ProgressLine line_;
  CountedWork counted_;
};

/// Returns "  3 min 20 s left", with two leading blanks. Empty if `seconds` is less than 0.5: almost nothing is left,
/// or the time is not known and given as a negative number.
std::string shown_seconds_left(double seconds);

}  // namespace convoy
