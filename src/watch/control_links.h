/// The connections of this rank with all others, without MPI: over them ranks say what they do while MPI stands still.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "watch/incoming_links.h"
#include "watch/outgoing_link.h"

namespace convoy {

/// The control connections of a rank. All ranks have one to rank 0. When rank 0 is silent, others connect to each
/// other.
class ControlLinks {
 public:
  /// Listens on these addresses of this host, as IncomingLinks does.
  ControlLinks(std::int64_t own, std::int64_t num_ranks, const Secret& secret, const std::vector<std::string>& hosts);

  /// The addresses on which this rank listens; and those of all ranks, by rank, when they are known.
  std::vector<std::string> addresses() const { return incoming_.addresses(); }
  void set_addresses(std::vector<std::vector<std::string>> of_ranks) { addresses_ = std::move(of_ranks); }

  /// Begins to connect to that rank, unless there is a connection with it.
  void open(std::int64_t rank, const Packet& hello);
  /// Waits until it is open; false if it is not in this time.
  bool connect(std::int64_t rank, const Packet& hello, std::chrono::milliseconds patience);
  /// Closes the connections that this rank has opened, except the one to rank 0.
  void close_others();

  /// Returns what has come from any rank; waits at most `timeout` for the first of it.
  std::vector<Received> poll(std::chrono::milliseconds timeout);
  /// False if there is no connection with that rank.
  bool send(std::int64_t rank, const Packet& packet);

  bool is_connected(std::int64_t rank) const;
  /// Whether no process listens any more at the addresses of that rank. Only known of ranks that this one connects to.
  bool is_refused(std::int64_t rank) const;
  /// Whether there is a connection to that rank's host, which has said that it has all that was sent to it.
  bool reaches_host(std::int64_t rank) const;
  /// Whether the connection that rank had opened was lost because the network does not work.
  bool is_cut(std::int64_t rank) const { return incoming_.of(rank).is_cut(); }

 private:
  const OutgoingLink* find_outgoing(std::int64_t rank) const;
  OutgoingLink& outgoing(std::int64_t rank);

  std::int64_t own_;
  Secret secret_;
  std::vector<std::vector<std::string>> addresses_;
  IncomingLinks incoming_;
  std::map<std::int64_t, OutgoingLink> outgoing_;  ///< by the other rank
};

}  // namespace convoy
