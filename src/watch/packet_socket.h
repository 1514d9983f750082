/// Packets between two ranks over TCP, which only these two can make, and only once.
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
    kHello,    ///< the first of a connection
    kHeard,    ///< the answer to it, and to an alarm: it has no status
    kAsk,      ///< from the rank that calls the roll: what do you do?
    kStatus,   ///< the answer; also sent without a question, every few seconds
    kLook,     ///< from the rank that calls the roll: what does your system say of that process of your host?
    kLooked,   ///< the answer, about that rank
    kAlarm,    ///< a status: this rank has stood still for too long
    kGoodbye,  ///< the sender ends as it should
    kEnd,      ///< from the rank that calls the roll: leave at once
  };
  Kind kind = Kind::kHello;
  std::int32_t rank = 0;  ///< whom it is about: the sender, except for kLook and kLooked
  RankStatus status;
  Reach reach = Reach::kAnswers;    ///< of that rank
  double root_silent_seconds = -1;  ///< since the sender last heard rank 0; below 0: it never has
};
static_assert(std::is_trivially_copyable_v<Packet>);

/// A packet on its way.
struct SealedPacket {
  std::int32_t from = 0, to = 0;  ///< ranks
  std::int32_t opener = 0;        ///< the one of them that has opened the connection
  std::uint64_t number = 0;       ///< larger in each packet of a dialogue
  Packet packet;
  std::uint64_t hash = 0;  ///< of all bytes before it, with the secret of the job
};
static_assert(std::is_trivially_copyable_v<SealedPacket>);

/// What only the ranks of a job know: rank 0 draws it, and MPI brings it to the others.
using Secret = SipKey;

/// One rank's side of what it and another say to each other in all connections that the same of the two opens, one
/// after the other.
class Dialogue {
 public:
  Dialogue(const Secret& secret, std::int32_t own, std::int32_t other, std::int32_t opener)
      : secret_(secret), own_(own), other_(other), opener_(opener) {}

  SealedPacket seal(const Packet& packet);
  /// Returns the packet; nothing if the other rank has not made it, or if it was opened before.
  std::optional<Packet> open(const SealedPacket& sealed);

 private:
  Secret secret_;
  std::int32_t own_, other_, opener_;
  std::uint64_t num_sent_ = 0, last_opened_ = 0;
};

/// One end of a connection, which never blocks.
class PacketSocket {
 public:
  PacketSocket() = default;
  /// `dialogue` must outlive it.
  PacketSocket(FileDescriptor socket, Dialogue& dialogue);

  bool is_open() const { return socket_.is_open(); }
  /// Whether it was closed because the network does not work: nothing is known of the other end then.
  bool is_cut() const { return is_cut_; }
  int descriptor() const { return socket_.get(); }
  void close() { socket_ = {}; }
  /// Sends a packet, and returns whether all of it is on its way. Does not wait for a peer that takes nothing.
  bool send(const Packet& packet);
  /// Returns what has come. Closes the connection if the other end has, or if something has come that the other has not
  /// sent.
  std::vector<Packet> receive();
  /// Whether the other's host has not said that it has all that was sent. A process that is stopped is no reason: its
  /// system receives for it.
  bool is_unacknowledged() const;

 private:
  void close_after(int error);

  FileDescriptor socket_;
  bool is_cut_ = false;
  Dialogue* dialogue_ = nullptr;
  std::vector<std::byte> pending_;  ///< of a packet that has come in part
};

/// Makes calls on the socket return without waiting, and hides it from programs that this process starts.
void make_non_blocking(int socket);

/// Takes what has come, up to the size of `to`, and returns its number of bytes: 0 if nothing has come yet, nothing if
/// the other end has closed (errno is 0 then) or the connection is broken.
std::optional<std::size_t> receive_some(int socket, std::span<std::byte> to);

}  // namespace convoy
