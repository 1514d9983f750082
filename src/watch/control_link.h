/// A connection of every rank to rank 0 that does not need MPI: it carries what ranks say of themselves while MPI
/// stands still.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "convoy/base/file_descriptor.h"

#include "watch/roll_call.h"
#include "watch/status_board.h"

namespace convoy {

/// All that travels, either way. Ranks of one job run the same program, so that its bytes mean the same.
struct Packet {
  enum class Kind : std::uint8_t {
    kHello,    ///< a rank's first
    kHeard,    ///< the answer to it, and to an alarm: this is rank 0 of the same job
    kAsk,      ///< rank 0: where do you stand?
    kStatus,   ///< the answer
    kLook,     ///< rank 0, to a rank of the same host: what does the system say of that process?
    kLooked,   ///< the answer, of that rank
    kAlarm,    ///< as a status that nobody asked for: this rank has stood still for too long
    kGoodbye,  ///< the rank ends in peace
    kEnd,      ///< rank 0: leave at once
  };
  Kind kind = Kind::kHello;
  std::int32_t rank = 0;  ///< whom it is about: the sender, but for kLook and kLooked
  std::uint64_t job = 0;  ///< a random number: others that find the port are not listened to
  RankStatus status;
  Reach reach = Reach::kAnswers;  ///< of kStatus, kAlarm and kLooked
};
static_assert(std::is_trivially_copyable_v<Packet>);

/// One end of a connection, which never blocks.
class PacketSocket {
 public:
  PacketSocket() = default;
  explicit PacketSocket(FileDescriptor socket);

  bool is_open() const { return socket_.is_open(); }
  int descriptor() const { return socket_.get(); }
  void close() { socket_ = {}; }
  /// Whether all of it is on its way; a peer that takes nothing is no reason to wait.
  bool send(const Packet& packet);
  /// What has come; closes itself where the other end has.
  std::vector<Packet> receive();
  /// Whether the other's host does not say that it has what was sent, although it was sent again.
  bool is_unacknowledged() const;

 private:
  FileDescriptor socket_;
  std::vector<std::byte> pending_;  ///< of a packet that has come in part
};

/// Rank 0's end.
class RootLink {
 public:
  /// Listens on a free port. Throws Error where there is none.
  RootLink(std::int64_t num_ranks, std::uint64_t job);

  /// "10.1.2.3 40123", one per network of this host, the host's own last.
  std::vector<std::string> addresses() const;
  /// What has come from whom; waits at most so long for the first of it.
  std::vector<Packet> poll(std::chrono::milliseconds timeout);
  void send(std::int64_t rank, const Packet& packet) { ranks_[static_cast<std::size_t>(rank)].send(packet); }
  void send_to_all(const Packet& packet);

  bool is_connected(std::int64_t rank) const { return ranks_[static_cast<std::size_t>(rank)].is_open(); }
  bool is_unacknowledged(std::int64_t rank) const { return ranks_[static_cast<std::size_t>(rank)].is_unacknowledged(); }

 private:
  void accept_all();
  void take_hello(PacketSocket& stranger);

  std::uint64_t job_;
  FileDescriptor listener_;
  std::vector<PacketSocket> ranks_;      ///< by rank; rank 0's stays closed
  std::vector<PacketSocket> strangers_;  ///< have not said who they are
  std::vector<Packet> early_;            ///< what came with a hello
};

/// Another rank's end: tries each address. A socket that is not open where rank 0 of this job answers at none of them.
PacketSocket connect_to_root(const std::vector<std::string>& addresses, const Packet& hello);

}  // namespace convoy
