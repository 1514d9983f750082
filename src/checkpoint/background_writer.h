/// Runs a thread that writes one file after the other while training continues.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <thread>

namespace convoy {

struct WriteResult {
  double seconds = 0;
  std::exception_ptr error;  ///< why the file was not written; null if it was
};

/// Runs one piece of work at a time. The destructor waits for its end.
class BackgroundWriter {
 public:
  /// Starts work; wait() has been called for the work before it.
  void start(std::function<void()> work);
  /// True from start() to wait().
  bool is_busy() const { return thread_.joinable(); }
  /// Whether wait() would return at once.
  bool is_done() const { return is_done_.load(std::memory_order_acquire); }
  /// Waits for the work's end, and returns its result.
  WriteResult wait();

 private:
  WriteResult result_;
  std::atomic<bool> is_done_ = false;
  std::jthread thread_;  // last member: joined before the others are destroyed
};

}  // namespace convoy
