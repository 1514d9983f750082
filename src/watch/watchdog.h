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
  double abort_seconds = 0;       ///< after the first table, while the run still stands; 0: never
  std::vector<RankReport> ranks;  ///< hosts and processes, by rank
  std::int64_t rank = 0;
  /// Rank 0 prints lines, and where it does not answer rank 1.
  std::function<void(const std::string&)> say;
  /// Leaves the process with that status, at once.
  std::function<void(int status)> leave;
};

inline constexpr double kMinAlarmSeconds = 60, kStepsToAlarm = 20;
/// So many times as long where there is no telling how long a part without an event may take: in starts, plans and
/// checkpoints, while data are opened, and by default until the first steps are over.
inline constexpr double kMorePatience = 10;
/// How long rank 0 waits for answers, and the others for its question.
inline constexpr double kAnswerSeconds = 3;
/// Each rank tells rank 0 so often where it is, so that something is known of one that falls silent.
inline constexpr double kReportSeconds = 10;
/// A connection may break although both ranks live. So long the other has to make a new one.
inline constexpr double kReturnSeconds = 5;

/// A thread of every rank, which needs no MPI. A rank that stands still raises the alarm; rank 0 then asks all ranks
/// where they stand. Only where the one that the others wait for stands still itself, or does not answer, it prints the
/// table, again at growing intervals, and at last ends the job; where its process has ended, at once.
class Watchdog {
 public:
  /// Rank 0's end, made before the others are told where it is. Until begin() it only lets them in.
  Watchdog(WatchSpec spec, const StatusBoard& board, std::unique_ptr<RootLink> link);
  /// The others', with a connection.
  Watchdog(WatchSpec spec, const StatusBoard& board, std::unique_ptr<RankLink> link);
  /// Says goodbye.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Rank 0: all ranks have their connection.
  void begin() { has_begun_ = true; }

 private:
  // All ranks
  double limit(const RankStatus& status) const;
  bool stands_still(const RankStatus& status) const { return status.standing_seconds >= limit(status); }
  Packet packet(Packet::Kind kind) const;
  // Rank 0
  void watch_as_root();
  bool takes_alarms();
  void note(const Packet& packet);
  void ask_all();
  bool awaits_answers() const;
  void find_out_why_silent();
  void ask_neighbours();
  bool is_gone(std::int64_t rank) const;
  bool has_culprit() const;
  void end_job(const std::string& reason);
  // The others
  void watch_as_rank();
  void answer();
  void report_at_times(const RankStatus& status);
  bool finds_root_again();
  void say_of_root();

  WatchSpec spec_;
  const StatusBoard& board_;
  // Rank 0
  std::unique_ptr<RootLink> link_;
  std::vector<bool> has_left_, has_answered_;  ///< by rank
  std::vector<double> heard_seconds_of_;       ///< by rank: when it last said something
  std::vector<double> connected_seconds_of_;   ///< by rank: when it last had a connection
  std::atomic<bool> has_begun_ = false;
  // The others
  std::unique_ptr<RankLink> rank_link_;
  double heard_seconds_ = 0;    ///< when rank 0 last said something
  bool root_has_left_ = false;  ///< in peace
  double reported_seconds_ = 0;
  RankStatus reported_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

/// Of a process on this host, as Linux tells: kStopped, kTraced, kEnded; kSilent where it runs.
Reach state_of_process(std::int64_t process);

}  // namespace convoy
