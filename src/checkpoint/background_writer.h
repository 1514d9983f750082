/// Runs work in a thread, such as writing a file, while the training continues.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

#include "convoy/base/clock.h"

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
  void start(std::function<void()> work) {
    is_done_ = false;
    thread_ = std::jthread([this, work = std::move(work)] {
      const double start = now_seconds();
      try {
        work();
      } catch (...) {  // a full disk, no memory: the training can continue
        result_.error = std::current_exception();
      }
      result_.seconds = now_seconds() - start;
      is_done_.store(true, std::memory_order_release);
    });
  }
  /// Whether work was started whose result was not yet fetched by wait().
  bool is_busy() const { return thread_.joinable(); }
  /// Whether the work has ended, so that wait() returns at once.
  bool is_done() const { return is_done_.load(std::memory_order_acquire); }
  /// Waits for the end of the work, and returns its result.
  WriteResult wait() {
    thread_.join();
    is_done_ = false;
    return std::exchange(result_, {});
  }

 private:
  WriteResult result_;
  std::atomic<bool> is_done_ = false;
  std::jthread thread_;  // the last member: it is joined before the other members are destroyed
};

}  // namespace convoy
