/// The TCP connections of this rank with other ranks. They do not use MPI, so ranks can say what they do while MPI
/// makes no progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "watchdog/incoming_links.h"
#include "watchdog/outgoing_link.h"

namespace convoy {

/// The control connections of a rank. Each rank has one with rank 0. If rank 0 does not answer, the others connect to
/// each other.
class ControlLinks {
 public:
  /// Rank `own` listens on a port of each of the addresses `hosts` of its host. Throws Error if none can be opened.
  /// `secret` is the job's key, with which packets are authenticated.
  ControlLinks(std::int64_t own, std::int64_t num_ranks, const Secret& secret, const std::vector<std::string>& hosts);

  /// The addresses and ports on which this rank listens: "10.1.2.3 40123".
  std::vector<std::string> addresses() const { return incoming_.addresses(); }
  /// Sets the addresses() of all ranks, by rank. Called before the first open() or connect().
  void set_addresses(std::vector<std::vector<std::string>> of_ranks) { addresses_ = std::move(of_ranks); }

  /// Begins to connect to rank number `rank`, unless a connection with it exists. `hello` is the first packet that is
  /// sent.
  void open(std::int64_t rank, const Packet& hello);
  /// Connects to rank number `rank` and waits for its answer to `hello`. Returns false if none comes within `patience`.
  /// The answer, and packets that come with it, are not returned by poll().
  bool connect(std::int64_t rank, const Packet& hello, std::chrono::milliseconds patience);
  /// Closes the connections that this rank has opened, except the one to rank 0.
  void close_others();

  /// Returns the packets that have arrived from all ranks. If there are none, waits for the first one, at most
  /// `timeout`.
  std::vector<Received> poll(std::chrono::milliseconds timeout);
  /// Sends a packet to rank number `rank`. Returns false if there is no connection with it, or if the packet cannot be
  /// sent now.
  bool send(std::int64_t rank, const Packet& packet);

  bool is_connected(std::int64_t rank) const;
  /// Whether no process listens any more at the addresses of rank number `rank`. Only known if this rank has tried to
  /// connect to it.
  bool is_refused(std::int64_t rank) const;
  /// Whether a connection with rank number `rank` exists whose TCP data have all been acknowledged by its host. The
  /// rank's process may be stopped nevertheless.
  bool reaches_host(std::int64_t rank) const;
  /// Whether the connection that rank number `rank` had opened was lost by a network error, not because its process has
  /// ended.
  bool is_cut(std::int64_t rank) const { return incoming_.of(rank).is_cut(); }

 private:
  const OutgoingLink* find_outgoing(std::int64_t rank) const;
  OutgoingLink& outgoing(std::int64_t rank);

  std::int64_t own_;
  Secret secret_;
  std::vector<std::vector<std::string>> addresses_;
  IncomingLinks incoming_;
  std::map<std::int64_t, OutgoingLink> outgoing_;  ///< by rank at the other end
};

}  // namespace convoy
