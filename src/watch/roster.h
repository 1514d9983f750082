/// What this rank knows of all ranks of its job.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "watch/control_links.h"
#include "watch/roll_call.h"

namespace convoy {

/// A connection may break although both ranks live. The one that opened it has this long to make a new one.
inline constexpr double kReturnSeconds = 5;

/// Keeps what each rank last said, answers questions of others, and finds out why a rank says nothing. Used by the
/// watchdog's thread alone.
class Roster {
 public:
  /// `ranks`: hosts and processes, by rank. `own`: makes a packet of what this rank does. `leave`: is called when
  /// another rank ends the job. When `ends` becomes true, nothing waits for answers any more.
  Roster(std::vector<RankReport> ranks, std::int64_t own_rank, std::unique_ptr<ControlLinks> links,
         std::function<Packet(Packet::Kind)> own, std::function<void()> leave, const std::atomic<bool>& ends);

  /// Takes what has come, and waits at most `timeout` for the first of it. True if an alarm is among it.
  bool listen(std::chrono::milliseconds timeout);
  void send(std::int64_t rank, Packet::Kind kind) { links_->send(rank, own_(kind)); }
  void send_to_all(Packet::Kind kind);
  /// Connects again to rank 0, if this rank has lost the connection.
  void keep_connected_to_root();
  /// Closes connections that were made for ask().
  void close_others() { links_->close_others(); }

  /// Asks ranks first, first + 1 ... last - 1 what they do, and waits until all have answered, at most `seconds`. Those
  /// that this rank has no connection with are connected to.
  void ask(std::int64_t first, std::int64_t last, double seconds);
  /// Whether one of them has answered the last ask().
  bool any_answered(std::int64_t first, std::int64_t last) const;
  /// Whether one that answered the last ask() of it says that it has heard rank 0 within the last `seconds`.
  bool any_heard_root(double seconds) const;

  /// After ask(): finds why those that have not answered are silent, and completes reports().
  void find_out_why_silent();
  const std::vector<RankReport>& reports() const { return ranks_; }

  /// Whether the rank has ended without a goodbye: its host says so, or its connection is gone for good.
  bool is_gone(std::int64_t rank) const;
  bool is_any_gone() const;
  bool has_left(std::int64_t rank) const { return knowledge_of(rank).has_left; }
  /// When that rank last said something, on this host's clock; 0: never.
  double heard_seconds(std::int64_t rank) const { return knowledge_of(rank).heard_seconds; }

 private:
  struct Knowledge {
    bool has_left = false, has_answered = false;
    double heard_seconds = 0;      ///< when it last said something; 0: never
    double connected_seconds = 0;  ///< when it last had a connection; 0: never
    double root_silent_seconds = -1;
  };

  void take(const Received& received);
  void note(const Received& received);
  bool awaits_answers(std::int64_t first, std::int64_t last) const;
  Reach reach_of_silent(std::int64_t rank) const;
  void ask_neighbours();
  /// Whether this rank sees that one's process.
  bool is_here(std::int64_t rank) const;
  Knowledge& knowledge_of(std::int64_t rank) { return knowledge_[static_cast<std::size_t>(rank)]; }
  const Knowledge& knowledge_of(std::int64_t rank) const { return knowledge_[static_cast<std::size_t>(rank)]; }
  RankReport& report_of(std::int64_t rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const RankReport& report_of(std::int64_t rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

  std::vector<RankReport> ranks_;
  std::int64_t own_rank_;
  std::unique_ptr<ControlLinks> links_;
  std::function<Packet(Packet::Kind)> own_;
  std::function<void()> leave_;
  const std::atomic<bool>& ends_;
  std::vector<Knowledge> knowledge_;  ///< by rank
  double listened_seconds_ = 0;       ///< when listen() was last called
  bool has_alarm_ = false;
};

}  // namespace convoy
