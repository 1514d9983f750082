/// Seconds, for everything that is timed.
#pragma once

#include <chrono>

namespace convoy {

/// Monotonic seconds since an arbitrary start.
inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Adds the seconds of its own life to a total.
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
