/// Runs work in a thread, such as writing a file, while the training continues.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <thread>

namespace convoy {

/// The result of a piece of work.
struct WriteResult {
  double seconds = 0;        ///< time that the work took
  std::exception_ptr error;  ///< the exception that the work has thrown; null: it succeeded
};

/// Runs one piece of work at a time in a thread of its own. The destructor waits for the end of the work.
class BackgroundWriter {
 public:
  /// Starts `work`. The result of the previous work must have been fetched by wait().
  void start(std::function<void()> work);
  /// Whether work was started whose result was not yet fetched by wait().
  bool is_busy() const { return thread_.joinable(); }
  /// Whether the work has ended, so that wait() returns at once.
  bool is_done() const { return is_done_.load(std::memory_order_acquire); }
  /// Waits for the end of the work, and returns its result.
  WriteResult wait();

 private:
  WriteResult result_;
  std::atomic<bool> is_done_ = false;
  std::jthread thread_;  // the last member: it is joined before the other members are destroyed
};

}  // namespace convoy
