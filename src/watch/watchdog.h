/// Finds ranks that stand still, says which one holds up the others, and ends a job that would never end.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "watch/control_links.h"
#include "watch/roll_call.h"
#include "watch/roster.h"
#include "watch/speaker.h"
#include "watch/status_board.h"

namespace convoy {

struct WatchSpec {
  /// Seconds without an event after which a rank raises the alarm; 0: kMinAlarmSeconds or kStepsToAlarm times the last
  /// step, whichever is longer.
  double alarm_seconds = 0;
  double abort_seconds = 0;       ///< after the first table, while the run still stands; 0: never
  std::vector<RankReport> ranks;  ///< hosts and processes, by rank
  std::int64_t rank = 0;
  /// Prints lines. Called by a thread that may be held up.
  std::function<void(const std::string&)> say;
  /// Leaves the process with that status, at once.
  std::function<void(int status)> leave;
};

inline constexpr double kMinAlarmSeconds = 60, kStepsToAlarm = 20;
/// The alarm waits this many times as long while a part without an event may take any time: in starts, imports, plans
/// and checkpoints, while data are opened, and by default until the first steps are over.
inline constexpr double kMorePatience = 10;
/// How long the rank that calls the roll waits for answers.
inline constexpr double kAnswerSeconds = 3;
/// Each rank tells rank 0 what it does at this interval, so that something is known of one that falls silent.
inline constexpr double kReportSeconds = 10;

/// A thread of every rank, which needs no MPI. A rank that stands still raises the alarm; rank 0 then calls the roll:
/// it asks all ranks what they do. Only if the one that the others wait for stands still itself, or does not answer, it
/// prints the table, again at growing intervals, and at last ends the job; if a process has ended, at once. If rank 0
/// does not answer any rank that answers, the lowest of these does the same in its place.
class Watchdog {
 public:
  /// Rank 0 makes its own before the others connect to it, and lets them in until begin() is called. The others make
  /// theirs with a connection to rank 0.
  Watchdog(WatchSpec spec, const StatusBoard& board, std::unique_ptr<ControlLinks> links);
  /// Says goodbye.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Rank 0: all ranks have their connection.
  void begin() { has_begun_ = true; }

 private:
  bool is_root() const { return spec_.rank == 0; }
  double limit(const RankStatus& status) const;
  bool stands_still(const RankStatus& status) const { return status.standing_seconds >= limit(status); }
  /// Whether this rank has done its work: then others may end, too, and their goodbyes be lost.
  bool is_ending() const { return board_.read().activity == Activity::kEnding; }
  Packet packet(Packet::Kind kind) const;

  void watch();
  void tell_root();
  void report_at_times(const RankStatus& status);
  bool is_root_silent() const;
  const char* who_calls_instead();

  void call_roll_if(bool alarm);
  void stop_calling(const char* why);
  bool stands_still_now() const;
  void end_job(const std::string& reason);

  WatchSpec spec_;
  const StatusBoard& board_;
  Roster roster_;
  Speaker speaker_;
  std::atomic<bool> has_begun_, ends_ = false;
  // The roll
  double next_roll_ = 0, pause_ = 0;
  double first_table_ = 0;  ///< when it was printed; 0: there is none
  // Towards rank 0
  double next_alarm_ = 0;
  double silent_since_ = 0;  ///< the first alarm that rank 0 has not answered; 0: it has answered all
  double reported_seconds_ = 0;
  RankStatus reported_;
  std::thread thread_;
};

}  // namespace convoy
