/// Packets between rank 0 and another rank over TCP, which only these two can make, and only once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "convoy/base/file_descriptor.h"

#include "watch/roll_call.h"
#include "watch/siphash.h"
#include "watch/status_board.h"

namespace convoy {

/// All that travels, either way. Ranks of one job run the same program, so that its bytes mean the same.
struct Packet {
  enum class Kind : std::uint8_t {
    kHello,    ///< a rank's first
    kHeard,    ///< the answer to it, and to an alarm
    kAsk,      ///< rank 0: where do you stand?
    kStatus,   ///< the answer
    kLook,     ///< rank 0, to a rank of the same host: what does the system say of that process?
    kLooked,   ///< the answer, of that rank
    kAlarm,    ///< a status without a question: this rank has stood still for too long
    kGoodbye,  ///< the rank ends in peace
    kEnd,      ///< rank 0: leave at once
  };
  Kind kind = Kind::kHello;
  std::int32_t rank = 0;  ///< whom it is about: the sender, but for kLook and kLooked
  RankStatus status;
  Reach reach = Reach::kAnswers;  ///< of kStatus, kAlarm and kLooked
};
static_assert(std::is_trivially_copyable_v<Packet>);

/// A packet on its way.
struct SealedPacket {
  std::int32_t from = 0, to = 0;  ///< ranks
  std::uint64_t number = 0;  ///< of all packets from the one to the other, in every connection: each has a larger one
  Packet packet;
  std::uint64_t hash = 0;  ///< of all bytes before it, with the secret of the job
};
static_assert(std::is_trivially_copyable_v<SealedPacket>);

/// What only the ranks of a job know: rank 0 draws it, and MPI brings it to the others.
using Secret = SipKey;

/// One rank's side of what it and another say to each other. Outlives their connections.
class Dialogue {
 public:
  Dialogue(const Secret& secret, std::int32_t own, std::int32_t other) : secret_(secret), own_(own), other_(other) {}

  SealedPacket seal(const Packet& packet);
  /// Nothing where the other has not made it, or it was opened before.
  std::optional<Packet> open(const SealedPacket& sealed);

 private:
  Secret secret_;
  std::int32_t own_, other_;
  std::uint64_t num_sent_ = 0, last_opened_ = 0;
};

/// One end of a connection, which never blocks.
class PacketSocket {
 public:
  PacketSocket() = default;
  /// `dialogue` outlives it.
  PacketSocket(FileDescriptor socket, Dialogue& dialogue);

  bool is_open() const { return socket_.is_open(); }
  int descriptor() const { return socket_.get(); }
  void close() { socket_ = {}; }
  /// Whether all of it is on its way; a peer that takes nothing is no reason to wait.
  bool send(const Packet& packet);
  /// What has come. Closes itself where the other end has, and where something has come that the other has not sent.
  std::vector<Packet> receive();
  /// Whether the other's host does not say that it has what was sent, although it was sent again.
  bool is_unacknowledged() const;

 private:
  FileDescriptor socket_;
  Dialogue* dialogue_ = nullptr;
  std::vector<std::byte> pending_;  ///< of a packet that has come in part
};

/// So that no call on the socket waits, and no program that this one starts has it.
void make_non_blocking(int socket);

/// Takes what has come, up to the size of `to`, and returns its number of bytes: 0 if nothing has come yet, nothing if
/// the other end has closed or the connection is broken.
std::optional<std::size_t> receive_some(int socket, std::span<std::byte> to);

}  // namespace convoy
