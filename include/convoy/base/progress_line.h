/// How far a long work is: a bar that is redrawn on a terminal; elsewhere a plain line now and then.
#pragma once

#include <string>

namespace convoy {

class ProgressLine {
 public:
  ProgressLine();

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

}  // namespace convoy
