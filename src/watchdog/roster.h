/// What this rank knows about all ranks of its job.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "watchdog/control_links.h"
#include "watchdog/roll_call.h"

namespace convoy {

/// A connection may break although both ranks run. The rank that opened it has this time, in seconds, to connect again.
/// After it, rank 0 counts that rank as ended, unless rank 0 can see its process, or the connection was lost by a
/// network error (ControlLinks::is_cut()).
inline constexpr double kReturnSeconds = 5;

/// Keeps the last status of each rank, answers the questions of other ranks, and finds out why a rank does not answer.
/// Used only by the watchdog's thread.
class Roster {
 public:
  /// `ranks` are the hosts and processes of all ranks, by rank. `own` makes a packet with this rank's status. `leave`
  /// is called when another rank ends the job. When `ends` becomes true, no call waits for answers any more.
  Roster(std::vector<RankReport> ranks, std::int64_t own_rank, std::unique_ptr<ControlLinks> links,
         std::function<Packet(Packet::Kind)> own, std::function<void()> leave, const std::atomic<bool>& ends);

  /// Handles the packets that have arrived; if there are none, waits for the first one, at most `timeout`. Returns
  /// whether one of them was an alarm.
  bool listen(std::chrono::milliseconds timeout);
  /// Sends a packet with this rank's status.
  void send(std::int64_t rank, Packet::Kind kind) { links_->send(rank, own_(kind)); }
  /// Sends a packet with this rank's status to every rank that it has a connection with.
  void send_to_all(Packet::Kind kind);
  /// Begins to connect to rank 0 again if this rank has lost the connection.
  void keep_connected_to_root();
  /// Closes the connections that this rank has opened for ask(), except the one to rank 0.
  void close_others() { links_->close_others(); }

  /// Asks the ranks [first, last) what they do, and waits at most `seconds` until all have answered. Connects to those
  /// that this rank has no connection with, except on rank 0, to which the others connect.
  void ask(std::int64_t first, std::int64_t last, double seconds);
  /// Whether one of the ranks [first, last) has answered the last ask() and has not said goodbye.
  bool any_answered(std::int64_t first, std::int64_t last) const;
  /// Whether another rank that has answered the last ask() has heard rank 0 within the `seconds` before its answer.
  bool any_heard_root(double seconds) const;

  /// Called after ask(): finds out why ranks have not answered, and completes reports().
  void find_out_why_silent();
  /// What is known about each rank, by rank.
  const std::vector<RankReport>& reports() const { return ranks_; }

  /// Whether the rank has ended without a goodbye: its process does not exist any more, or its connection was not
  /// opened again in time.
  bool is_gone(std::int64_t rank) const;
  bool is_any_gone() const;
  /// Whether the rank has said goodbye.
  bool has_left(std::int64_t rank) const { return knowledge_of(rank).has_left; }
  /// Time of the last packet from that rank, in seconds of this host's clock; 0: none has come.
  double heard_seconds(std::int64_t rank) const { return knowledge_of(rank).heard_seconds; }

 private:
  /// What is known about the connection of a rank, in addition to its RankReport. Times are in seconds of this host's
  /// clock.
  struct Knowledge {
    bool has_left = false, has_answered = false;
    double heard_seconds = 0;         ///< time of its last packet; 0: none has come
    double connected_seconds = 0;     ///< time when it last had a connection; 0: never
    double root_silent_seconds = -1;  ///< Packet::root_silent_seconds of its last packet
  };

  void take(const Received& received);
  void note(const Received& received);
  bool awaits_answers(std::int64_t first, std::int64_t last) const;
  Reach reach_of_silent(std::int64_t rank) const;
  void ask_neighbours();
  /// Whether that rank's process is visible from this one: same host and same PID namespace.
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
  double listened_seconds_ = 0;       ///< time of the last listen()
  bool has_alarm_ = false;
};

}  // namespace convoy
