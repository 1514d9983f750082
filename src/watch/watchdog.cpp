/// Rank 0 asks only when somebody stands still: a run without trouble sends nothing but each rank's first words.
#include "watch/watchdog.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "convoy/base/clock.h"

namespace convoy {

namespace {

constexpr std::chrono::milliseconds kLook{200};

}  // namespace

Reach state_of_process(std::int64_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  if (!file) return Reach::kEnded;
  std::ostringstream text;
  text << file.rdbuf();
  const std::string stat = text.str();
  const std::size_t end_of_name = stat.rfind(')');  // which may hold anything
  const char state = end_of_name + 2 < stat.size() ? stat[end_of_name + 2] : '?';
  if (state == 'T') return Reach::kStopped;
  if (state == 't') return Reach::kTraced;
  return state == 'Z' || state == 'X' ? Reach::kEnded : Reach::kSilent;
}

Watchdog::Watchdog(WatchSpec spec, const StatusBoard& board, std::unique_ptr<RootLink> link)
    : spec_(std::move(spec)),
      board_(board),
      link_(std::move(link)),
      processes_(spec_.ranks.size()),
      has_left_(spec_.ranks.size()),
      has_answered_(spec_.ranks.size()),
      thread_([this] { watch_as_root(); }) {}

Watchdog::Watchdog(WatchSpec spec, const StatusBoard& board, PacketSocket socket, std::uint64_t job)
    : spec_(std::move(spec)), board_(board), socket_(std::move(socket)), job_(job), thread_([this] {
        watch_as_rank();
      }) {}

Watchdog::~Watchdog() {
  ends_ = true;
  thread_.join();
  socket_.send(packet(Packet::Kind::kGoodbye));
}

Packet Watchdog::packet(Packet::Kind kind) const {
  return {.kind = kind,
          .rank = static_cast<std::int32_t>(spec_.rank),
          .process = getpid(),
          .job = job_,
          .status = board_.read()};
}

bool Watchdog::stands_still() const {
  const RankStatus status = board_.read();
  double limit = spec_.alarm_seconds;
  if (limit == 0) limit = std::max(kMinAlarmSeconds, kStepsToAlarm * board_.step_seconds());
  if (status.activity != Activity::kTraining) limit *= kPatienceElsewhere;
  return status.activity != Activity::kEnding && status.standing_seconds >= limit;
}

// Rank 0 answers an alarm by asking. Where it does not, it is the one that stands still: rank 1 says so, and each rank
// ends by itself when the time is over.
void Watchdog::watch_as_rank() {
  std::int64_t alarmed_event = -1;
  double alarm_start = 0;
  bool asked = false, said = false;
  while (!ends_) {
    pollfd state{.fd = socket_.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&state, 1, static_cast<int>(kLook.count()));  // of a closed one it only waits
    for (const Packet& received : socket_.receive()) {
      if (received.kind == Packet::Kind::kEnd) spec_.leave(1);
      asked = true;
      socket_.send(packet(Packet::Kind::kStatus));
    }
    if (!stands_still()) continue;
    if (const std::int64_t event = board_.read().num_events; event != alarmed_event) {
      alarmed_event = event;
      alarm_start = now_seconds();
      asked = said = false;
      socket_.send(packet(Packet::Kind::kAlarm));
    }
    const double seconds = now_seconds() - alarm_start;
    if (!asked && !said && spec_.rank == 1 && seconds > kAnswerSeconds) {
      said = true;
      say_of_root();
    }
    if (!asked && spec_.abort_seconds > 0 && seconds > spec_.abort_seconds + kAnswerSeconds) spec_.leave(1);
  }
}

void Watchdog::say_of_root() {
  std::vector<RankReport> both = {spec_.ranks[0], spec_.ranks[static_cast<std::size_t>(spec_.rank)]};
  both[1].status = board_.read();
  both[0].reach = both[0].host == both[1].host  ? state_of_process(spec_.root_process)
                  : !socket_.is_open()          ? Reach::kEnded
                  : socket_.is_unacknowledged() ? Reach::kUnreachable
                                                : Reach::kSilent;
  spec_.say(fmt::format("the run stands still, and rank 0, which would say why, does not answer:\n{}",
                        roll_call_table(both)));
}

void Watchdog::note(const Packet& received) {
  const auto rank = static_cast<std::size_t>(received.rank);
  if (rank >= spec_.ranks.size()) return;
  processes_[rank] = received.process;
  spec_.ranks[rank].status = received.status;
  has_answered_[rank] = true;
  if (received.kind == Packet::Kind::kGoodbye) has_left_[rank] = true;
}

// What is silent on this host is asked of the system.
void Watchdog::find_out_why_silent() {
  for (RankReport& report : spec_.ranks) {
    const auto rank = static_cast<std::size_t>(report.rank);
    const bool same_host = report.host == spec_.ranks[static_cast<std::size_t>(spec_.rank)].host;
    report.reach = Reach::kAnswers;
    if (report.rank == spec_.rank || has_left_[rank] || has_answered_[rank]) continue;
    if (same_host && processes_[rank] > 0)
      report.reach = state_of_process(processes_[rank]);
    else if (!link_->is_connected(report.rank))
      report.reach = processes_[rank] > 0 ? Reach::kEnded : Reach::kSilent;
    else
      report.reach = link_->is_unacknowledged(report.rank) ? Reach::kUnreachable : Reach::kSilent;
  }
}

void Watchdog::call_the_roll() {
  has_answered_.assign(has_answered_.size(), false);
  link_->send_to_all(packet(Packet::Kind::kAsk));
  const double asked = now_seconds();
  const auto all_answered = [&] {
    for (std::size_t rank = 0; rank < has_answered_.size(); ++rank)
      if (!has_answered_[rank] && !has_left_[rank] && static_cast<std::int64_t>(rank) != spec_.rank) return false;
    return true;
  };
  while (!all_answered() && now_seconds() - asked < kAnswerSeconds)
    for (const Packet& received : link_->poll(kLook)) note(received);
  spec_.ranks[static_cast<std::size_t>(spec_.rank)].status = board_.read();
  find_out_why_silent();
}

void Watchdog::watch_as_root() {
  double alarm_start = 0, next_roll = 0, pause = 0;
  while (!ends_) {
    bool alarm = stands_still();
    for (const Packet& received : link_->poll(kLook)) {
      note(received);
      alarm = alarm || received.kind == Packet::Kind::kAlarm;
    }
    for (std::size_t rank = 0; rank < processes_.size(); ++rank)
      alarm =
          alarm || (processes_[rank] > 0 && !has_left_[rank] && !link_->is_connected(static_cast<std::int64_t>(rank)));
    const double now = now_seconds();
    if (alarm_start == 0) {
      if (!alarm) continue;
      alarm_start = next_roll = now;
      pause = spec_.alarm_seconds > 0 ? spec_.alarm_seconds : kMinAlarmSeconds;
    }
    const bool over = spec_.abort_seconds > 0 && now - alarm_start >= spec_.abort_seconds;
    if (now < next_roll && !over) continue;
    call_the_roll();
    next_roll = now + pause;
    pause *= 2;
    const bool moves = std::all_of(spec_.ranks.begin(), spec_.ranks.end(), [&](const RankReport& report) {
      return report.reach == Reach::kAnswers && report.status.standing_seconds < now - alarm_start;
    });
    if (moves && now > alarm_start) {
      spec_.say(fmt::format("the run goes on after {:.0f} s", now - alarm_start));
      alarm_start = 0;
      continue;
    }
    spec_.say(fmt::format("the run stands still; the rank that holds up the others comes first:\n{}",
                          roll_call_table(spec_.ranks)));
    if (!over) continue;
    spec_.say(fmt::format("the run has stood still for {:.0f} s (run.watchdog_abort_seconds): it ends here",
                          now - alarm_start));
    link_->send_to_all(packet(Packet::Kind::kEnd));
    spec_.leave(1);
  }
}

}  // namespace convoy
