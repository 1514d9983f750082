/// The progress of long work: on a terminal a bar that is redrawn, elsewhere a plain line now and then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace convoy {

class ProgressLine {
 public:
  ProgressLine();
  /// The bar goes away.
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Whether it is time to show() again.
  bool is_due() const;
  /// "HEAD [====    ]  NUMBERS"; `fraction` from 0 to 1.
  void show(const std::string& head, double fraction, const std::string& numbers);
  /// A line of its own, above the bar.
  void line(const std::string& text);
  /// The bar away.
  void clear();

 private:
  bool terminal_;
  bool drawn_ = false;
  double next_seconds_ = 0;
};

/// Work of which so many parts of so many are done: "test  3200/10000  812 images/s  8 s left".
class CountedWork {
 public:
  /// `unit` names the parts: "images".
  explicit CountedWork(std::string unit) : unit_(std::move(unit)) {}

  /// Where another kind of `work` begins, its rate is measured again: only what is done after its first report counts.
  void report(const std::string& work, std::int64_t done, double now);
  /// After the work's name; the rate and the time left only where a rate has been measured.
  std::string numbers(std::int64_t total, const std::string& note = "") const;
  double fraction(std::int64_t total) const {
    return static_cast<double>(done_) / static_cast<double>(std::max<std::int64_t>(1, total));
  }

 private:
  /// 0: none was measured yet.
  double rate() const;

  std::string unit_, work_;
  std::int64_t first_done_ = 0, done_ = 0;
  double first_seconds_ = 0, seconds_ = 0;
};

/// The line of such work.
class CountedProgress {
 public:
  explicit CountedProgress(std::string unit) : counted_(std::move(unit)) {}

  void show(const std::string& work, std::int64_t done, std::int64_t total, const std::string& note = "");
  void clear() { line_.clear(); }

 private:
  ProgressLine line_;
  CountedWork counted_;
};

/// "  3 min 20 s left"; empty where that is less than half a second, or unknown (negative).
std::string shown_seconds_left(double seconds);

}  // namespace convoy
