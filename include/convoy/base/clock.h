/// The clock of all time measurements: seconds as double.
#pragma once

#include <chrono>

namespace convoy {

/// Returns the time in seconds since an arbitrary start, the same for all processes of a machine; it never decreases.
inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds since 1970 by the host's clock, which may be set while the program runs.
inline double wall_clock_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Adds the time between its construction and its destruction, in seconds, to a total.
class ScopedTimer {
 public:
  explicit ScopedTimer(double& total_seconds) : total_(total_seconds), start_(now_seconds()) {}
  ~ScopedTimer() { total_ += now_seconds() - start_; }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

 private:
  double& total_;
  double start_;
};

}  // namespace convoy
