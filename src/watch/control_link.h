/// A connection of every rank to rank 0 that does not need MPI: it carries what ranks say of themselves while MPI
/// stands still.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/file_descriptor.h"

#include "watch/packet_socket.h"

namespace convoy {

/// A stranger is a connection that is no rank's yet. It has kStrangerSeconds to send the bytes of a hello, and there
/// are at most kMoreStrangers more strangers than ranks: then the newest takes the place of the oldest.
inline constexpr double kStrangerSeconds = 2;
inline constexpr std::size_t kMoreStrangers = 16;

/// Rank 0's end.
class RootLink {
 public:
  /// Listens on a free port of each of these addresses of this host: "127.0.0.1". Throws Error where one has none.
  RootLink(std::int64_t num_ranks, const Secret& secret, const std::vector<std::string>& hosts);

  /// "10.1.2.3 40123", one for each host, in their order.
  std::vector<std::string> addresses() const;
  /// What has come from whom; waits at most so long for the first of it. A rank's hello is among it.
  std::vector<Packet> poll(std::chrono::milliseconds timeout);
  void send(std::int64_t rank, const Packet& packet) { ranks_[static_cast<std::size_t>(rank)].send(packet); }
  void send_to_all(const Packet& packet);

  /// A rank that has lost its connection may come again.
  bool is_connected(std::int64_t rank) const { return ranks_[static_cast<std::size_t>(rank)].is_open(); }
  bool is_unacknowledged(std::int64_t rank) const { return ranks_[static_cast<std::size_t>(rank)].is_unacknowledged(); }

 private:
  struct Stranger {
    FileDescriptor socket;
    double since = 0;
    std::array<std::byte, sizeof(SealedPacket)> bytes;
    std::size_t num_bytes = 0;
  };

  void accept_some();
  /// Whether it stays a stranger.
  bool listen_to(Stranger& stranger);
  void take_hello(Stranger& stranger);

  std::vector<FileDescriptor> listeners_;
  std::vector<Dialogue> dialogues_;  ///< by rank
  std::vector<PacketSocket> ranks_;  ///< by rank; rank 0's stays closed
  std::deque<Stranger> strangers_;   ///< the oldest first
  std::vector<Packet> hellos_;       ///< since the last poll
  double next_accept_seconds_ = 0;
};

/// Another rank's end.
class RankLink {
 public:
  /// `addresses`: as RootLink gives them.
  RankLink(std::int64_t rank, const Secret& secret, std::vector<std::string> addresses);

  /// Tries each address, again and again for so long, until rank 0 of this job answers; false where it does not.
  bool connect(const Packet& hello, std::chrono::milliseconds patience);
  PacketSocket& socket() { return socket_; }

 private:
  bool connect_to(const std::string& address, const Packet& hello, std::chrono::milliseconds patience);

  Dialogue dialogue_;
  std::vector<std::string> addresses_;
  PacketSocket socket_;
};

}  // namespace convoy
