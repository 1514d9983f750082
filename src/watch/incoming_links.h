/// The connections that other ranks open to this one.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include <poll.h>

#include "convoy/base/file_descriptor.h"

#include "watch/packet_socket.h"

namespace convoy {

/// A stranger is a connection that is no rank's yet. It has kStrangerSeconds to send the bytes of a hello, and there
/// are at most kMoreStrangers more strangers than ranks: then the newest takes the place of the oldest.
inline constexpr double kStrangerSeconds = 2;
inline constexpr std::size_t kMoreStrangers = 16;

/// A packet that has come, and the rank that sent it.
struct Received {
  std::int64_t from = 0;
  Packet packet;
};

class IncomingLinks {
 public:
  /// Rank `own` listens on a free port of each of these addresses of its host: "127.0.0.1". Throws Error if one has
  /// none.
  IncomingLinks(std::int64_t own, std::int64_t num_ranks, const Secret& secret, const std::vector<std::string>& hosts);

  /// "10.1.2.3 40123", one for each host, in their order.
  std::vector<std::string> addresses() const;
  /// Returns what has come, hellos included. Waits at most `timeout` for the first of it, or for one of `others`.
  std::vector<Received> poll(std::chrono::milliseconds timeout, std::span<const pollfd> others = {});
  /// The connection of that rank; closed if it has none. A rank that has lost its connection may connect again.
  PacketSocket& of(std::int64_t rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const PacketSocket& of(std::int64_t rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

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

  std::int64_t own_;
  std::vector<FileDescriptor> listeners_;
  std::vector<Dialogue> dialogues_;  ///< by rank
  std::vector<PacketSocket> ranks_;  ///< by rank; this one's stays closed
  std::deque<Stranger> strangers_;   ///< the oldest first
  std::vector<Received> hellos_;     ///< since the last poll
  double next_accept_seconds_ = 0;
};

}  // namespace convoy
