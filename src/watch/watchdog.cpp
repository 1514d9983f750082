/// Rank 0 asks only when somebody stands still: a run without trouble sends a hundred bytes per rank every ten seconds.
#include "watch/watchdog.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "convoy/base/clock.h"

namespace convoy {

namespace {

constexpr std::chrono::milliseconds kLook{50};
constexpr std::chrono::milliseconds kTry{500};

std::size_t index(std::int64_t rank) {
  return static_cast<std::size_t>(rank);
}

// The program's signals are for the thread that works.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

Reach state_of_process(std::int64_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  if (!file) return Reach::kEnded;
  std::ostringstream text;
  text << file.rdbuf();
  const std::string stat = text.str();
  const std::size_t end_of_name = stat.rfind(')');  // a name may hold anything
  const char state = end_of_name + 2 < stat.size() ? stat[end_of_name + 2] : '?';
  if (state == 'T') return Reach::kStopped;
  if (state == 't') return Reach::kTraced;
  return state == 'Z' || state == 'X' ? Reach::kEnded : Reach::kSilent;
}

// --- All ranks -----------------------------------------------------------------------------------------------

Watchdog::Watchdog(WatchSpec spec, const StatusBoard& board, std::unique_ptr<RootLink> link)
    : spec_(std::move(spec)),
      board_(board),
      link_(std::move(link)),
      has_left_(spec_.ranks.size()),
      has_answered_(spec_.ranks.size()),
      heard_seconds_of_(spec_.ranks.size(), now_seconds()),
      connected_seconds_of_(spec_.ranks.size(), now_seconds()),
      thread_([this] { watch_as_root(); }) {}

Watchdog::Watchdog(WatchSpec spec, const StatusBoard& board, std::unique_ptr<RankLink> link)
    : spec_(std::move(spec)), board_(board), rank_link_(std::move(link)), thread_([this] { watch_as_rank(); }) {}

Watchdog::~Watchdog() {
  ends_ = true;
  thread_.join();
  const Packet goodbye = packet(Packet::Kind::kGoodbye);
  if (rank_link_) rank_link_->socket().send(goodbye);
  if (link_) link_->send_to_all(goodbye);
}

double Watchdog::limit(const RankStatus& status) const {
  const bool is_slow = status.activity != Activity::kTraining && status.activity != Activity::kEvaluating;
  if (spec_.alarm_seconds > 0) return (is_slow ? kMorePatience : 1) * spec_.alarm_seconds;
  const double step_seconds = board_.step_seconds();
  const bool is_unknown = step_seconds == 0 && status.in_step;
  return std::max((is_slow || is_unknown ? kMorePatience : 1) * kMinAlarmSeconds, kStepsToAlarm * step_seconds);
}

Packet Watchdog::packet(Packet::Kind kind) const {
  return {.kind = kind,
          .rank = static_cast<std::int32_t>(spec_.rank),
          .status = board_.read(),
          .reach = state_of_process(getpid()) == Reach::kTraced ? Reach::kTraced : Reach::kAnswers};
}

// --- Rank 0 --------------------------------------------------------------------------------------------------

void Watchdog::watch_as_root() {
  block_signals();
  double next_roll = 0, pause = 0, first_table = 0;  // 0: no alarm, or no table yet
  while (!ends_) {
    const bool alarm = takes_alarms();
    const double now = now_seconds();
    if (next_roll == 0) {
      if (!alarm) continue;
      next_roll = now;
      pause = limit(board_.read());
    }
    if (now < next_roll) continue;
    ask_all();
    if (!has_culprit()) {
      if (first_table > 0) spec_.say(fmt::format("the run goes on after {:.0f} s", now - first_table));
      next_roll = first_table = 0;
      continue;
    }
    const RankReport& culprit = spec_.ranks[culprits_first(spec_.ranks).front()];
    spec_.say(fmt::format("{}:\n{}",
                          culprit.reach == Reach::kEnded
                              ? "a rank has ended, and the others cannot go on without it"
                              : "the run stands still; the rank that holds up the others comes first",
                          roll_call_table(spec_.ranks)));
    if (first_table == 0) first_table = now;
    if (culprit.reach == Reach::kEnded) return end_job(fmt::format("rank {} has ended", culprit.rank));
    const double deadline = spec_.abort_seconds > 0 ? first_table + spec_.abort_seconds : now + 1e9;
    if (now >= deadline)
      return end_job(fmt::format("it has stood still for {:.0f} s (run.watchdog_abort_seconds)", now - first_table));
    next_roll = std::min(now + pause, deadline);
    pause *= 2;
  }
}

// Whether somebody stands still, or has left without a word.
bool Watchdog::takes_alarms() {
  bool alarm = stands_still(board_.read());
  for (const Packet& received : link_->poll(kLook)) {
    note(received);
    alarm = alarm || received.kind == Packet::Kind::kAlarm;
  }
  for (const RankReport& report : spec_.ranks) {
    if (link_->is_connected(report.rank)) connected_seconds_of_[index(report.rank)] = now_seconds();
    alarm = alarm || is_gone(report.rank);
  }
  return alarm && has_begun_;
}

// It has left without a word: its connection is closed, and its host says so, or it does not come again.
bool Watchdog::is_gone(std::int64_t rank) const {
  const RankReport& report = spec_.ranks[index(rank)];
  if (rank == spec_.rank || has_left_[index(rank)] || link_->is_connected(rank)) return false;
  const bool is_here = report.host == spec_.ranks[index(spec_.rank)].host;
  return (is_here && state_of_process(report.process) == Reach::kEnded) ||
         now_seconds() - connected_seconds_of_[index(rank)] > kReturnSeconds;
}

void Watchdog::note(const Packet& received) {
  const auto rank = index(received.rank);
  if (rank >= spec_.ranks.size()) return;
  if (received.kind == Packet::Kind::kLooked) {
    spec_.ranks[rank].reach = received.reach;
    return;
  }
  has_answered_[rank] = true;
  heard_seconds_of_[rank] = now_seconds();
  if (received.kind == Packet::Kind::kAlarm) link_->send(received.rank, packet(Packet::Kind::kHeard));
  spec_.ranks[rank].reach = received.reach;
  spec_.ranks[rank].status = received.status;
  if (received.kind != Packet::Kind::kGoodbye) return;
  has_left_[rank] = true;
  spec_.ranks[rank].reach = Reach::kLeft;
  spec_.ranks[rank].status.wait = Wait::kNothing;
}

// One whose connection is broken answers when it comes again.
bool Watchdog::awaits_answers() const {
  return std::ranges::any_of(spec_.ranks, [this](const RankReport& report) {
    return !has_answered_[index(report.rank)] && !is_gone(report.rank);
  });
}

void Watchdog::ask_all() {
  has_answered_ = has_left_;
  has_answered_[index(spec_.rank)] = true;
  link_->send_to_all(packet(Packet::Kind::kAsk));
  const double asked = now_seconds();
  while (awaits_answers() && now_seconds() - asked < kAnswerSeconds)
    for (const Packet& received : link_->poll(kLook)) note(received);
  spec_.ranks[index(spec_.rank)].status = board_.read();
  find_out_why_silent();
  ask_neighbours();
}

// By its connection, and on this host by what Linux says of its process.
void Watchdog::find_out_why_silent() {
  const std::string& here = spec_.ranks[index(spec_.rank)].host;
  for (RankReport& report : spec_.ranks) {
    if (has_answered_[index(report.rank)]) continue;
    report.status.standing_seconds = now_seconds() - heard_seconds_of_[index(report.rank)];
    const Reach local = report.host == here ? state_of_process(report.process) : Reach::kSilent;
    if (is_gone(report.rank))
      report.reach = Reach::kEnded;
    else if (local == Reach::kStopped || local == Reach::kTraced)
      report.reach = local;
    else
      report.reach = link_->is_unacknowledged(report.rank) ? Reach::kUnreachable : Reach::kSilent;
  }
}

// What is silent elsewhere is asked of a rank on the same host that answers.
void Watchdog::ask_neighbours() {
  bool asked = false;
  for (const RankReport& silent : spec_.ranks) {
    if (silent.reach != Reach::kSilent) continue;
    const auto neighbour = std::find_if(spec_.ranks.begin(), spec_.ranks.end(), [&](const RankReport& other) {
      return other.host == silent.host && other.rank != spec_.rank && other.reach == Reach::kAnswers &&
             !has_left_[index(other.rank)];
    });
    if (neighbour == spec_.ranks.end()) continue;
    Packet question = packet(Packet::Kind::kLook);
    question.rank = silent.rank;
    link_->send(neighbour->rank, question);
    asked = true;
  }
  for (const double start = now_seconds(); asked && now_seconds() - start < 1.0;)
    for (const Packet& received : link_->poll(kLook)) note(received);
}

// Whoever the others wait for: does it go on?
bool Watchdog::has_culprit() const {
  const RankReport& first = spec_.ranks[culprits_first(spec_.ranks).front()];
  return first.reach != Reach::kAnswers || stands_still(first.status);
}

void Watchdog::end_job(const std::string& reason) {
  spec_.say("the run ends here: " + reason);
  link_->send_to_all(packet(Packet::Kind::kEnd));
  spec_.leave(1);
}

// --- The others ----------------------------------------------------------------------------------------------

// Rank 0 answers each alarm by asking. Where it does not, it is the one that stands still: rank 1 says so, and each
// rank ends by itself when the time is over.
void Watchdog::watch_as_rank() {
  block_signals();
  double alarm_start = 0, next_alarm = 0;
  bool said = false;
  PacketSocket& socket = rank_link_->socket();
  while (!ends_) {
    pollfd state{.fd = socket.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&state, 1, static_cast<int>(kLook.count()));  // of a closed one it only waits
    answer();
    const RankStatus status = board_.read();
    const double now = now_seconds();
    if (!socket.is_open() && !root_has_left_ && !finds_root_again()) return;
    report_at_times(status);
    if (!stands_still(status)) {
      alarm_start = 0;
      continue;
    }
    if (alarm_start == 0) {
      alarm_start = heard_seconds_ = next_alarm = now;
      said = false;
    }
    if (now >= next_alarm) {
      socket.send(packet(Packet::Kind::kAlarm));
      next_alarm = now + limit(status);
    }
    const bool heard = heard_seconds_ > alarm_start;
    if (!heard && !said && spec_.rank == 1 && now - alarm_start > kAnswerSeconds) {
      said = true;
      say_of_root();
    }
    // Rank 0 asks at each alarm, and ends the job at the latest so long after it has found a culprit.
    const double longest_silence = std::max(spec_.abort_seconds, limit(status)) + 2 * kAnswerSeconds;
    if (spec_.abort_seconds > 0 && now - heard_seconds_ > longest_silence) {
      if (spec_.rank == 1) spec_.say("the run ends here: rank 0 has not answered (run.watchdog_abort_seconds)");
      spec_.leave(1);
    }
  }
}

void Watchdog::report_at_times(const RankStatus& status) {
  const bool has_moved = status.replica != reported_.replica || status.stage != reported_.stage;
  if (!has_moved && now_seconds() - reported_seconds_ < kReportSeconds) return;
  reported_ = status;
  reported_seconds_ = now_seconds();
  rank_link_->socket().send(packet(Packet::Kind::kStatus));
}

void Watchdog::answer() {
  PacketSocket& socket = rank_link_->socket();
  for (const Packet& received : socket.receive()) {
    heard_seconds_ = now_seconds();
    if (received.kind == Packet::Kind::kEnd) spec_.leave(1);
    if (received.kind == Packet::Kind::kGoodbye) root_has_left_ = true;
    if (received.kind == Packet::Kind::kAsk) socket.send(packet(Packet::Kind::kStatus));
    if (received.kind == Packet::Kind::kLook) {
      Packet looked = packet(Packet::Kind::kLooked);
      looked.rank = received.rank;
      looked.reach = state_of_process(spec_.ranks[index(received.rank)].process);
      socket.send(looked);
    }
  }
}

// The connection broke. If rank 0 cannot be reached any more, it has ended without a word: the launcher may end the job
// meanwhile; else this does, and returns false.
bool Watchdog::finds_root_again() {
  const double start = now_seconds();
  while (!ends_ && now_seconds() - start < kAnswerSeconds)
    if (rank_link_->connect(packet(Packet::Kind::kHello), kTry)) return true;
  if (ends_) return false;
  if (spec_.rank == 1) spec_.say("rank 0 has ended: its process is gone. The run ends here");
  spec_.leave(1);
  return false;
}

void Watchdog::say_of_root() {
  const PacketSocket& socket = rank_link_->socket();
  std::vector<RankReport> both = {spec_.ranks[0], spec_.ranks[index(spec_.rank)]};
  both[0].status.standing_seconds = -1;
  both[1].status = board_.read();
  const Reach local = both[0].host == both[1].host ? state_of_process(both[0].process) : Reach::kSilent;
  both[0].reach = local == Reach::kStopped || local == Reach::kTraced ? local
                  : !socket.is_open()                                 ? Reach::kEnded
                  : socket.is_unacknowledged()                        ? Reach::kUnreachable
                                                                      : Reach::kSilent;
  spec_.say(fmt::format("the run stands still, and rank 0, which would say why, does not answer:\n{}",
                        roll_call_table(both)));
}

}  // namespace convoy
