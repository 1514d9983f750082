/// Ranks answer at once: one that does not is stopped, has ended, or cannot be reached over the network.
#include "watchdog/roster.h"

#include <algorithm>
#include <utility>

#include "convoy/base/clock.h"

#include "watchdog/process.h"

namespace convoy {

namespace {

constexpr std::chrono::milliseconds kListenTime{50};
constexpr double kNeighbourSeconds = 1;
// A rank that has not listened for this long, as it was stopped itself, may have missed that others connect again.
constexpr double kMissedSeconds = 1;

bool see_each_other(const RankReport& a, const RankReport& b) {
  return a.host == b.host && a.process_space == b.process_space;
}

}  // namespace

Roster::Roster(std::vector<RankReport> ranks, std::int64_t own_rank, std::unique_ptr<ControlLinks> links,
               std::function<Packet(Packet::Kind)> own, std::function<void()> leave, const std::atomic<bool>& ends)
    : ranks_(std::move(ranks)),
      own_rank_(own_rank),
      links_(std::move(links)),
      own_(std::move(own)),
      leave_(std::move(leave)),
      ends_(ends),
      knowledge_(ranks_.size()) {
  for (RankReport& report : ranks_) report.status.standing_seconds = -1;
}

bool Roster::is_here(std::int64_t rank) const {
  return see_each_other(report_of(rank), report_of(own_rank_));
}

// --- What comes ----------------------------------------------------------------------------------------------

bool Roster::listen(std::chrono::milliseconds timeout) {
  for (const Received& received : links_->poll(timeout)) take(received);
  const double now = now_seconds();
  const bool has_missed = now - std::exchange(listened_seconds_, now) > kMissedSeconds;
  for (const RankReport& report : ranks_) {
    double& connected = knowledge_of(report.rank).connected_seconds;
    if (links_->is_connected(report.rank) || (has_missed && connected > 0)) connected = now;
  }
  return std::exchange(has_alarm_, false);
}

void Roster::take(const Received& received) {
  if (received.packet.rank < 0 || received.packet.rank >= std::ssize(ranks_)) return;
  note(received);
  switch (received.packet.kind) {
    case Packet::Kind::kAsk:
      return send(received.from, Packet::Kind::kStatus);
    case Packet::Kind::kLook: {
      Packet answer = own_(Packet::Kind::kLooked);
      answer.rank = received.packet.rank;
      answer.reach = state_of_process(report_of(answer.rank).process);
      links_->send(received.from, answer);
      return;
    }
    case Packet::Kind::kAlarm:
      has_alarm_ = true;
      return send(received.from, Packet::Kind::kHeard);
    case Packet::Kind::kEnd:
      return leave_();
    default:
      return;
  }
}

void Roster::note(const Received& received) {
  const Packet& packet = received.packet;
  if (packet.kind == Packet::Kind::kLooked) {  // it may come late: what the rank itself says counts more
    const Knowledge& knowledge = knowledge_of(packet.rank);
    if (!knowledge.has_answered && !knowledge.has_left) report_of(packet.rank).reach = packet.reach;
    return;
  }
  Knowledge& knowledge = knowledge_of(received.from);
  knowledge.heard_seconds = now_seconds();
  if (packet.kind == Packet::Kind::kHeard || knowledge.has_left) return;
  knowledge.has_answered = true;
  knowledge.root_silent_seconds = packet.root_silent_seconds;
  RankReport& report = report_of(received.from);
  report.reach = packet.reach;
  report.status = packet.status;
  if (packet.kind != Packet::Kind::kGoodbye) return;
  knowledge.has_left = true;
  report.reach = Reach::kLeft;
  report.status.wait = Wait::kNothing;
}

// --- What is sent --------------------------------------------------------------------------------------------

void Roster::send_to_all(Packet::Kind kind) {
  for (const RankReport& report : ranks_) send(report.rank, kind);
}

void Roster::keep_connected_to_root() {
  if (!has_left(0) && !links_->is_connected(0)) links_->open(0, own_(Packet::Kind::kHello));
}

// One whose connection is broken answers when it comes again.
bool Roster::awaits_answers(std::int64_t first, std::int64_t last) const {
  for (std::int64_t rank = first; rank < last; ++rank)
    if (!knowledge_of(rank).has_answered && !is_gone(rank)) return true;
  return false;
}

void Roster::ask(std::int64_t first, std::int64_t last, double seconds) {
  std::vector<bool> is_asked(ranks_.size());
  for (std::int64_t rank = first; rank < last; ++rank)
    knowledge_of(rank).has_answered = has_left(rank) || rank == own_rank_;
  const double start = now_seconds();
  do {
    for (std::int64_t rank = first; rank < last; ++rank) {
      if (knowledge_of(rank).has_answered || is_asked[static_cast<std::size_t>(rank)]) continue;
      if (own_rank_ != 0) links_->open(rank, own_(Packet::Kind::kHello));  // rank 0 waits for theirs
      if (!links_->is_connected(rank)) continue;
      send(rank, Packet::Kind::kAsk);
      is_asked[static_cast<std::size_t>(rank)] = true;
    }
    listen(kListenTime);
  } while (!ends_ && awaits_answers(first, last) && now_seconds() - start < seconds);
  report_of(own_rank_).status = own_(Packet::Kind::kStatus).status;
}

bool Roster::any_answered(std::int64_t first, std::int64_t last) const {
  for (std::int64_t rank = first; rank < last; ++rank)
    if (knowledge_of(rank).has_answered && !has_left(rank)) return true;
  return false;
}

bool Roster::any_heard_root(double seconds) const {
  return std::ranges::any_of(ranks_, [&](const RankReport& report) {
    const Knowledge& knowledge = knowledge_of(report.rank);
    const bool has_told = report.rank != own_rank_ && knowledge.has_answered && !knowledge.has_left;
    return has_told && knowledge.root_silent_seconds >= 0 && knowledge.root_silent_seconds <= seconds;
  });
}

// --- Why a rank is silent ------------------------------------------------------------------------------------

// What this rank sees of a process counts more than what connections say. The other end of a connection that this rank
// had opened can be tried again; of one that the other had opened only time tells, unless the network has cut it.
bool Roster::is_gone(std::int64_t rank) const {
  const Knowledge& knowledge = knowledge_of(rank);
  if (rank == own_rank_ || knowledge.has_left || links_->is_connected(rank)) return false;
  if (is_here(rank)) return state_of_process(report_of(rank).process) == Reach::kEnded;
  if (links_->is_refused(rank)) return true;
  if (links_->is_cut(rank)) return false;
  const bool was_opened_by_other = own_rank_ == 0;
  return was_opened_by_other && knowledge.connected_seconds > 0 &&
         now_seconds() - knowledge.connected_seconds > kReturnSeconds;
}

bool Roster::is_any_gone() const {
  return std::ranges::any_of(ranks_, [this](const RankReport& report) { return is_gone(report.rank); });
}

Reach Roster::reach_of_silent(std::int64_t rank) const {
  // When rank 0 has left, all work is done: others that are gone have left, too, and have told only rank 0.
  if (is_gone(rank)) return has_left(0) ? Reach::kLeft : Reach::kEnded;
  const Reach local = is_here(rank) ? state_of_process(report_of(rank).process) : Reach::kSilent;
  if (local != Reach::kSilent) return local;
  return is_here(rank) || links_->reaches_host(rank) ? Reach::kSilent : Reach::kUnreachable;
}

void Roster::find_out_why_silent() {
  for (RankReport& report : ranks_) {
    const Knowledge& knowledge = knowledge_of(report.rank);
    if (knowledge.has_answered || report.rank == own_rank_) continue;
    report.status.standing_seconds = knowledge.heard_seconds > 0 ? now_seconds() - knowledge.heard_seconds : -1;
    report.reach = reach_of_silent(report.rank);
  }
  ask_neighbours();
}

// Why a rank elsewhere is silent is asked of one that answers and sees its process.
void Roster::ask_neighbours() {
  bool asked = false;
  for (const RankReport& silent : ranks_) {
    if (silent.reach != Reach::kSilent) continue;
    const auto neighbour = std::ranges::find_if(ranks_, [&](const RankReport& other) {
      return see_each_other(other, silent) && other.rank != own_rank_ && other.reach == Reach::kAnswers &&
             knowledge_of(other.rank).has_answered;
    });
    if (neighbour == ranks_.end()) continue;
    Packet question = own_(Packet::Kind::kLook);
    question.rank = silent.rank;
    links_->send(neighbour->rank, question);
    asked = true;
  }
  for (const double start = now_seconds(); asked && !ends_ && now_seconds() - start < kNeighbourSeconds;)
    listen(kListenTime);
}

}  // namespace convoy
