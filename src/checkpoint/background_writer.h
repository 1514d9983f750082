/// A thread that writes one file after the other while steps go on.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <thread>

namespace convoy {

struct WriteResult {
  double seconds = 0;
  std::exception_ptr error;  ///< why the file is not there; null where it is
};

/// One piece of work at a time. Destroyed, it waits for the end of that.
class BackgroundWriter {
 public:
  /// The work before has been taken note of by wait().
  void start(std::function<void()> work);
  /// From start() to wait().
  bool is_busy() const { return thread_.joinable(); }
  /// Whether wait() returns at once.
  bool is_done() const { return is_done_.load(std::memory_order_acquire); }
  /// Waits for the work's end.
  WriteResult wait();

 private:
  WriteResult result_;
  std::atomic<bool> is_done_ = false;
  std::jthread thread_;  // last: joined before the others go
};

}  // namespace convoy
