/// Names the rank that keeps a job from starting, before MPI works.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "watchdog/roll_call.h"
#include "watchdog/speaker.h"

namespace convoy {

/// A thread that waits until the job has started. Before that, ranks cannot ask each other. If the start takes too
/// long, the lowest running rank of each host prints which ranks of its host do not run. Later every rank ends its
/// process.
class StartWatchdog {
 public:
  /// The arguments of a StartWatchdog.
  struct Spec {
    double alarm_seconds = 0;  ///< time in seconds until the warning is printed
    double abort_seconds = 0;  ///< time in seconds from the warning until the job ends; 0: it never ends
    /// Prints a text. Called by a thread that may block.
    std::function<void(const std::string&)> say;
    /// Ends this process with that exit status.
    std::function<void(int status)> leave;
  };

  explicit StartWatchdog(Spec spec);
  ~StartWatchdog() { end(); }
  StartWatchdog(const StartWatchdog&) = delete;
  StartWatchdog& operator=(const StartWatchdog&) = delete;

  /// Ends the thread: the job has started. Waits for it.
  void end();

 private:
  void run();
  bool ends_within(double seconds);

  Spec spec_;
  Speaker speaker_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace convoy
