/// The TCP connections that other ranks open to this rank.
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

#include "watchdog/packet_socket.h"

namespace convoy {

/// A new connection is a "stranger" until it has sent a valid hello packet, which must arrive within kStrangerSeconds.
/// At most kMoreStrangers more strangers than ranks are kept: a further one takes the place of the oldest.
inline constexpr double kStrangerSeconds = 2;
inline constexpr std::size_t kMoreStrangers = 16;

/// A packet that has arrived, and the rank that sent it.
struct Received {
  std::int64_t from = 0;
  Packet packet;
};

/// The listening ports of a rank, and the connections that other ranks have opened to it.
class IncomingLinks {
 public:
  /// Rank `own` listens on a free port of each of the addresses `hosts` of its host, such as "127.0.0.1". `secret` is
  /// the job's key. Throws Error if no port can be opened at an address.
  IncomingLinks(std::int64_t own, std::int64_t num_ranks, const Secret& secret, const std::vector<std::string>& hosts);

  /// Returns the addresses and ports on which this rank listens: "10.1.2.3 40123" for each of `hosts`, in their order.
  std::vector<std::string> addresses() const;
  /// Returns the packets that have arrived, hellos included. If there are none, waits until one arrives or one of the
  /// sockets `others` is ready, at most `timeout`.
  std::vector<Received> poll(std::chrono::milliseconds timeout, std::span<const pollfd> others = {});
  /// The connection that rank number `rank` has opened; a closed socket if it has none. A rank may connect again after
  /// it has lost its connection.
  PacketSocket& of(std::int64_t rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const PacketSocket& of(std::int64_t rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

 private:
  /// A connection that has not yet sent its complete hello packet.
  struct Stranger {
    FileDescriptor socket;
    double since = 0;  ///< time in seconds at which it was accepted
    std::array<std::byte, sizeof(SealedPacket)> bytes;
    std::size_t num_bytes = 0;  ///< number of bytes of the hello that have arrived
  };

  void accept_some();
  /// Reads what the stranger has sent. Returns whether it remains a stranger.
  bool listen_to(Stranger& stranger);
  void take_hello(Stranger& stranger);

  std::int64_t own_;
  std::vector<FileDescriptor> listeners_;
  std::vector<Dialogue> dialogues_;  ///< by rank
  std::vector<PacketSocket> ranks_;  ///< by rank; the one of this rank is always closed
  std::deque<Stranger> strangers_;   ///< from the oldest to the newest
  std::vector<Received> hellos_;     ///< that have arrived since the last poll()
  double next_accept_seconds_ = 0;
};

}  // namespace convoy
