/// Packets between two ranks over TCP. They are authenticated: only ranks of the same job can make them, and a packet
/// that was recorded and sent again is refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "convoy/base/file_descriptor.h"

#include "watchdog/roll_call.h"
#include "watchdog/status_board.h"

namespace convoy {

/// The secret key of a job, which only its ranks know: rank 0 draws it at random, and MPI broadcasts it.
using Secret = std::array<std::uint64_t, 2>;

/// Returns the keyed hash SipHash-2-4 of a short message (Aumasson and Bernstein, "SipHash: a fast short-input PRF",
/// 2012). Without the key it cannot be computed. The paper reads bytes as little-endian numbers; the code compiles only
/// for little-endian processors.
std::uint64_t siphash(const Secret& key, std::span<const std::byte> message);

/// What ranks send to each other. It is sent as its bytes in memory: all ranks of a job run the same program.
struct Packet {
  /// What the sender tells or asks.
  enum class Kind : std::uint8_t {
    kHello,    ///< the first packet of a connection
    kHeard,    ///< answer to kHello and to kAlarm; it has no status
    kAsk,      ///< question of the rank that looks for the cause of a standstill: what does the receiver do?
    kStatus,   ///< answer to kAsk; also sent without a question, every few seconds
    kLook,     ///< question of the rank that looks for the cause of a standstill: does the process of `rank` run?
    kLooked,   ///< answer to kLook, from a rank on the host of `rank`
    kAlarm,    ///< a status: the sender has made no progress for too long
    kGoodbye,  ///< the sender has done its work and ends
    kEnd,      ///< from the rank that has found the cause of a standstill: the receiver must end at once
  };
  Kind kind = Kind::kHello;
  std::int32_t rank = 0;  ///< the rank that the packet is about: the sender, except in kLook and kLooked
  RankStatus status;
  Reach reach = Reach::kAnswers;    ///< how `rank` can be reached
  double root_silent_seconds = -1;  ///< time since the sender last heard rank 0, in seconds; negative: never
};
static_assert(std::is_trivially_copyable_v<Packet>);

/// A packet as it is sent: with its sender, its receiver and an authentication code.
struct SealedPacket {
  std::int32_t from = 0, to = 0;  ///< ranks of the sender and of the receiver
  std::int32_t opener = 0;        ///< which of these two ranks has opened the connection
  std::uint64_t number = 0;       ///< grows from packet to packet, over all connections of the same Dialogue
  Packet packet;
  std::uint64_t hash = 0;  ///< SipHash of all bytes before it, with the job's secret key
};
static_assert(std::is_trivially_copyable_v<SealedPacket>);

/// Makes and checks the packets between this rank and one other, over all connections that the rank `opener` (one of
/// the two) opens to the other, one after the other.
class Dialogue {
 public:
  Dialogue(const Secret& secret, std::int32_t own, std::int32_t other, std::int32_t opener)
      : secret_(secret), own_(own), other_(other), opener_(opener) {}

  /// Makes a packet that the other rank can open().
  SealedPacket seal(const Packet& packet);
  /// Returns the packet if it is valid; nothing if the other rank has not made it, or if it was opened before.
  std::optional<Packet> open(const SealedPacket& sealed);

 private:
  Secret secret_;
  std::int32_t own_, other_, opener_;
  std::uint64_t num_sent_ = 0, last_opened_ = 0;
};

/// One end of a TCP connection between two ranks. No call waits.
class PacketSocket {
 public:
  PacketSocket() = default;
  /// Takes a connected socket. `dialogue` must outlive this object.
  PacketSocket(FileDescriptor socket, Dialogue& dialogue);

  bool is_open() const { return socket_.is_open(); }
  /// Whether the connection was closed by a network error. Then it is not known whether the other process still runs.
  bool is_cut() const { return is_cut_; }
  int descriptor() const { return socket_.get(); }
  void close() { socket_ = {}; }
  /// Sends a packet; returns whether all of it is in the system's send buffer. Does not wait if the buffer is full.
  bool send(const Packet& packet);
  /// Returns the packets that have arrived. Closes the connection if the other end has closed it, or if a packet is not
  /// valid.
  std::vector<Packet> receive();
  /// Whether the other host has not yet acknowledged all TCP data that were sent. A stopped process is not a reason:
  /// its system acknowledges for it.
  bool is_unacknowledged() const;

 private:
  void close_after(int error);

  FileDescriptor socket_;
  bool is_cut_ = false;
  Dialogue* dialogue_ = nullptr;
  std::vector<std::byte> pending_;  ///< the bytes of a packet that has not arrived completely
};

/// Makes calls on the socket return without waiting, and closes it in programs that this process starts (FD_CLOEXEC).
void make_non_blocking(int socket);

/// Reads the bytes that have arrived into `to`, at most its size. Returns their number, 0 if none have arrived. Returns
/// nothing if the other end has closed the connection (then errno is 0) or if the connection is broken.
std::optional<std::size_t> receive_some(int socket, std::span<std::byte> to);

}  // namespace convoy
