/// Finds ranks that stand still, says which one holds up the others, and ends a job that would never end.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "watch/control_link.h"
#include "watch/roll_call.h"
#include "watch/status_board.h"

namespace convoy {

struct WatchSpec {
  /// Seconds without an event after which a rank raises the alarm; 0: kMinAlarmSeconds or kStepsToAlarm times the last
  /// step, whichever is longer.
  double alarm_seconds = 0;
  double abort_seconds = 0;       ///< after the first alarm, while it still stands; 0: never
  std::vector<RankReport> ranks;  ///< hosts, replicas and stages, by rank
  std::int64_t rank = 0;
  std::int64_t root_process = 0;  ///< rank 0's, on its host
  /// Rank 0 prints lines, and where it does not answer rank 1.
  std::function<void(const std::string&)> say;
  /// Leaves the process with that status, at once.
  std::function<void(int status)> leave;
};

inline constexpr double kMinAlarmSeconds = 60, kStepsToAlarm = 20;
/// Evaluations, checkpoints and starts have parts that make no event for longer than a step.
inline constexpr double kPatienceElsewhere = 10;
/// How long rank 0 waits for answers.
inline constexpr double kAnswerSeconds = 2;

/// A thread of every rank. On rank 0 it listens to the others, on the others to rank 0.
class Watchdog {
 public:
  /// Rank 0's end, made before the others are told where it is.
  Watchdog(WatchSpec spec, const StatusBoard& board, std::unique_ptr<RootLink> link);
  /// The others'; a socket that is not open (no network but MPI's): only says so, on rank 0's table.
  Watchdog(WatchSpec spec, const StatusBoard& board, PacketSocket socket, std::uint64_t job);
  /// Says goodbye.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch_as_root();
  void watch_as_rank();
  void say_of_root();
  void call_the_roll();
  void note(const Packet& packet);
  void find_out_why_silent();
  bool stands_still() const;
  Packet packet(Packet::Kind kind) const;

  WatchSpec spec_;
  const StatusBoard& board_;
  std::unique_ptr<RootLink> link_;  ///< rank 0
  PacketSocket socket_;             ///< elsewhere
  std::uint64_t job_ = 0;
  std::vector<std::int64_t> processes_;  ///< rank 0: by rank; 0: not known
  std::vector<bool> has_left_, has_answered_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

/// Of a process on this host: stopped, traced, ended; kSilent where it runs or nothing is known.
Reach state_of_process(std::int64_t process);

}  // namespace convoy
