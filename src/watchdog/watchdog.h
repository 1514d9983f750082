/// Finds ranks that make no progress ("stand still"), prints which one holds up the others, and ends a job that would
/// never end.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "watchdog/control_links.h"
#include "watchdog/roll_call.h"
#include "watchdog/roster.h"
#include "watchdog/speaker.h"
#include "watchdog/status_board.h"

namespace convoy {

/// The arguments of a Watchdog.
struct WatchdogSpec {
  /// Time in seconds without progress after which a rank raises the alarm; 0: kMinAlarmSeconds, or kStepsToAlarm times
  /// the duration of the last step if that is longer.
  double alarm_seconds = 0;
  /// Time in seconds from the first printed table until the job ends, if it still stands still; 0: it never ends.
  double abort_seconds = 0;
  std::vector<RankReport> ranks;  ///< hosts and processes of all ranks, by rank
  std::int64_t rank = 0;          ///< this rank
  /// Prints a text. Called by a thread that may block.
  std::function<void(const std::string&)> say;
  /// Ends this process at once with that exit status.
  std::function<void(int status)> leave;
};

/// The defaults of WatchdogSpec::alarm_seconds: a time in seconds, and a number of training steps.
inline constexpr double kMinAlarmSeconds = 60, kStepsToAlarm = 20;
/// Factor of the time until an alarm in parts of a run that may take any time: starts, imports, plans, checkpoints, the
/// opening of data and, if alarm_seconds is 0, the first steps.
inline constexpr double kMorePatience = 10;
/// Time in seconds that a rank waits for the answers of the others when it looks for the cause of a standstill.
inline constexpr double kAnswerSeconds = 3;
/// Interval in seconds at which each rank sends its status to rank 0, so that the last status of a rank is known when
/// it does not answer any more.
inline constexpr double kReportSeconds = 10;

/// A thread of every rank, which does not use MPI. A rank that stands still raises the alarm. Rank 0 then calls the
/// roll: it asks all ranks what they do. It prints the table of answers only if the rank that the others wait for
/// stands still itself, or does not answer. It repeats the table at growing intervals, and at last ends the job; it
/// ends the job at once if a process has ended. If rank 0 does not answer, the lowest rank that answers does this in
/// its place.
class Watchdog {
 public:
  /// On rank 0 it is made before the others connect, and accepts their connections until begin() is called. On the
  /// other ranks `links` must have a connection to rank 0.
  Watchdog(WatchdogSpec spec, const StatusBoard& board, std::unique_ptr<ControlLinks> links);
  /// Ends the thread, and says goodbye to all ranks.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Begins to watch. Called on rank 0 when all other ranks are connected to rank 0; they watch from the beginning.
  void begin() { has_begun_ = true; }

 private:
  bool is_root() const { return spec_.rank == 0; }
  /// Time in seconds without progress after which a rank with this status stands still.
  double limit(const RankStatus& status) const;
  bool stands_still(const RankStatus& status) const { return status.standing_seconds >= limit(status); }
  /// Whether this rank has done its work. Then other ranks may end too, and their goodbyes may be lost.
  bool is_ending() const { return board_.read().activity == Activity::kEnding; }
  Packet packet(Packet::Kind kind) const;

  void run();
  void tell_root();
  void report_at_times(const RankStatus& status);
  bool is_root_silent() const;
  const char* who_calls_instead();

  void call_roll_if(bool alarm);
  void stop_calling(const char* why);
  bool stands_still_now() const;
  void end_job(const std::string& reason);

  WatchdogSpec spec_;
  const StatusBoard& board_;
  Roster roster_;
  Speaker speaker_;
  std::atomic<bool> has_begun_, ends_ = false;
  // When this rank calls the roll
  double next_roll_ = 0, pause_ = 0;
  double first_table_ = 0;  ///< time at which the first table was printed; 0: none was printed
  // When this rank reports to rank 0
  double next_alarm_ = 0;
  double silent_since_ = 0;  ///< time of the first alarm that rank 0 has not answered; 0: it has answered all
  double reported_seconds_ = 0;
  RankStatus reported_;
  std::thread thread_;
};

}  // namespace convoy
