/// Rank 0 asks only when a rank stands still: a run without trouble sends a hundred bytes per rank every ten seconds.
#include "watchdog/watchdog.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "convoy/base/clock.h"

#include "watchdog/process.h"

namespace convoy {

namespace {

constexpr std::chrono::milliseconds kWaitPerRound{50};
// Rank 0 answers an alarm at once. If it has not after this time, the others ask each other.
constexpr double kRootSilentSeconds = 2;
// While rank 0 answers, a rank that stands still hears it at least this often.
constexpr double kRootHeardSeconds = kAnswerSeconds + 1;
constexpr double kRollPauseSeconds = 1;
// Number of lower ranks that are asked at a time, and the time that they get to answer.
constexpr std::int64_t kAskedAtOnce = 16;
constexpr double kLowerSeconds = 1;

}  // namespace

Watchdog::Watchdog(WatchdogSpec spec, const StatusBoard& board, std::unique_ptr<ControlLinks> links)
    : spec_(std::move(spec)),
      board_(board),
      roster_(
          spec_.ranks, spec_.rank, std::move(links), [this](Packet::Kind kind) { return packet(kind); },
          [this] { spec_.leave(1); }, ends_),
      speaker_(spec_.say),
      has_begun_(!is_root()),
      thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  ends_ = true;
  thread_.join();
  roster_.send_to_all(Packet::Kind::kGoodbye);
  roster_.listen({});  // a connection that is closed before all was read takes the goodbye with it
}

double Watchdog::limit(const RankStatus& status) const {
  const bool is_slow = status.activity != Activity::kTraining && status.activity != Activity::kEvaluating;
  if (spec_.alarm_seconds > 0) return (is_slow ? kMorePatience : 1) * spec_.alarm_seconds;
  const double step_seconds = board_.step_seconds();
  const bool is_unknown = step_seconds == 0 && status.in_step;
  return std::max((is_slow || is_unknown ? kMorePatience : 1) * kMinAlarmSeconds, kStepsToAlarm * step_seconds);
}

Packet Watchdog::packet(Packet::Kind kind) const {
  const double root_heard = roster_.heard_seconds(0);
  return {.kind = kind,
          .rank = static_cast<std::int32_t>(spec_.rank),
          .status = board_.read(),
          .reach = state_of_process(getpid()) == Reach::kTraced ? Reach::kTraced : Reach::kAnswers,
          .root_silent_seconds = root_heard > 0 ? now_seconds() - root_heard : -1};
}

void Watchdog::run() {
  block_signals();
  while (!ends_) {
    const bool others_alarm = roster_.listen(kWaitPerRound);
    if (!has_begun_) continue;
    if (is_root()) {
      call_roll_if(others_alarm || stands_still(board_.read()) || (!is_ending() && roster_.is_any_gone()));
    } else {
      tell_root();
      call_roll_if(is_root_silent());
    }
  }
}

// --- Towards rank 0 ------------------------------------------------------------------------------------------

void Watchdog::tell_root() {
  const double now = now_seconds();
  const RankStatus status = board_.read();
  roster_.keep_connected_to_root();
  report_at_times(status);
  if (roster_.heard_seconds(0) > silent_since_) silent_since_ = 0;
  if (!stands_still(status)) {
    next_alarm_ = 0;
  } else if (now >= next_alarm_) {
    roster_.send(0, Packet::Kind::kAlarm);
    next_alarm_ = now + kAnswerSeconds;
    if (silent_since_ == 0) silent_since_ = now;
  }
}

void Watchdog::report_at_times(const RankStatus& status) {
  const bool has_moved = status.replica != reported_.replica || status.stage != reported_.stage;
  if (!has_moved && now_seconds() - reported_seconds_ < kReportSeconds) return;
  if (is_ending()) return;  // rank 0 may leave at any moment
  reported_ = status;
  reported_seconds_ = now_seconds();
  roster_.send(0, Packet::Kind::kStatus);
}

// Rank 0 has not answered an alarm, or its process has ended, or it has done its work and this rank has not.
bool Watchdog::is_root_silent() const {
  const bool is_gone = roster_.is_gone(0);
  if (is_gone && !is_ending()) return true;
  if (!stands_still(board_.read())) return false;
  return is_gone || roster_.has_left(0) || (silent_since_ > 0 && now_seconds() - silent_since_ > kRootSilentSeconds);
}

// Asks the others, as no rank calls the roll in the place of one that answers. Empty if this one has to.
const char* Watchdog::who_calls_instead() {
  for (std::int64_t first = 0; first < spec_.rank && !ends_; first += kAskedAtOnce) {
    const std::int64_t last = std::min(first + kAskedAtOnce, spec_.rank);
    roster_.ask(first, last, kLowerSeconds);
    if (roster_.any_answered(first, last)) return "a lower rank answers, and reports from now on,";
  }
  roster_.ask(spec_.rank + 1, std::ssize(spec_.ranks), kLowerSeconds);
  return roster_.any_heard_root(kRootHeardSeconds) ? "rank 0 answers other ranks" : nullptr;
}

// --- The roll ------------------------------------------------------------------------------------------------

void Watchdog::call_roll_if(bool alarm) {
  if ((!alarm && first_table_ == 0) || now_seconds() < next_roll_) return;
  next_roll_ = now_seconds() + kRollPauseSeconds;
  if (is_root())
    roster_.ask(0, std::ssize(spec_.ranks), kAnswerSeconds);
  else if (!alarm)
    return stop_calling(stands_still(board_.read()) ? "rank 0 answers again" : "the run continues");
  else if (const char* const other = who_calls_instead(); other != nullptr)
    return stop_calling(other);
  roster_.find_out_why_silent();
  if (ends_) return;
  if (!stands_still_now()) return stop_calling("the run continues");
  const double now = now_seconds();
  const std::vector<RankReport>& reports = roster_.reports();
  const RankReport& culprit = reports[culprits_first(reports).front()];
  speaker_.say(fmt::format("{}:\n{}", describe_standstill(reports), roll_call_table(reports)));
  if (first_table_ == 0) {
    first_table_ = now;
    pause_ = limit(board_.read());
  }
  if (culprit.reach == Reach::kEnded) return end_job(fmt::format("rank {} has ended", culprit.rank));
  const double deadline =
      spec_.abort_seconds > 0 ? first_table_ + spec_.abort_seconds : std::numeric_limits<double>::infinity();
  if (now >= deadline)
    return end_job(
        fmt::format("it has made no progress for {:.0f} s (run.watchdog_abort_seconds)", now - first_table_));
  next_roll_ = std::min(now + pause_, deadline);
  pause_ *= 2;
}

void Watchdog::stop_calling(const char* why) {
  if (first_table_ > 0) speaker_.say(fmt::format("{} after {:.0f} s", why, now_seconds() - first_table_));
  first_table_ = 0;
  roster_.close_others();
}

// A rank has ended; or some stand still, and the one that they wait for does, too, or does not answer. One that does
// not answer while all others continue may have lost only this connection.
bool Watchdog::stands_still_now() const {
  const std::vector<RankReport>& reports = roster_.reports();
  const RankReport& first = reports[culprits_first(reports).front()];
  if (first.reach == Reach::kEnded) return true;
  const bool any_stands = std::ranges::any_of(
      reports, [this](const RankReport& r) { return r.reach == Reach::kAnswers && stands_still(r.status); });
  return any_stands && (first.reach != Reach::kAnswers || stands_still(first.status));
}

void Watchdog::end_job(const std::string& reason) {
  speaker_.say("the run ends here: " + reason);
  speaker_.finish();  // before others leave, and the launcher ends this process
  roster_.send_to_all(Packet::Kind::kEnd);
  spec_.leave(1);
  ends_ = true;
}

}  // namespace convoy
