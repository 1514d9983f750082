/// Names a rank that keeps a job from starting, before MPI works.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "convoy/comm/launch.h"

#include "watch/roll_call.h"
#include "watch/speaker.h"

namespace convoy {

/// A thread that waits until the job has started: until then no rank can ask another. If that takes too long, the first
/// rank of each host that runs says which ranks of its host do not, and later ends the job.
class StartWatch {
 public:
  struct Spec {
    double alarm_seconds = 0;  ///< until it speaks
    double abort_seconds = 0;  ///< from then until it ends the job; 0: never
    /// Prints lines. Called by a thread that may be held up.
    std::function<void(const std::string&)> say;
    std::function<void(int status)> leave;
  };

  explicit StartWatch(Spec spec);
  ~StartWatch() { end(); }
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;

  /// The job has started.
  void end();

 private:
  void watch();
  bool ends_within(double seconds);

  Spec spec_;
  Speaker speaker_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::thread thread_;
};

/// The ranks of this process's job on this host, with what Linux says of their processes (kSilent: it runs): they run
/// the same program for the same launcher. In the order of ranks.
std::vector<RankReport> find_ranks_here();

}  // namespace convoy
