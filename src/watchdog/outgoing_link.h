/// The TCP connection that this rank opens to one other rank.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <poll.h>

#include "convoy/base/file_descriptor.h"

#include "watchdog/packet_socket.h"

namespace convoy {

/// A connection that rank `own` opens to rank `other`, again if it is lost.
class OutgoingLink {
 public:
  /// `addresses` are IncomingLinks::addresses() of the rank `other`. `secret` is the job's key.
  OutgoingLink(const Secret& secret, std::int64_t own, std::int64_t other, std::vector<std::string> addresses);

  /// Begins to connect, unless it is connecting or open, or the other rank has no addresses. Each call of receive()
  /// then takes the next step, and tries again after a failure, until the other rank has answered the packet `hello` or
  /// close() is called.
  void open(const Packet& hello);
  void close();
  /// Connects as open() does, and waits for the answer. If none comes within `patience`, closes the connection and
  /// returns false. The answer, and packets that come with it, are not returned by receive().
  bool connect(const Packet& hello, std::chrono::milliseconds patience);

  /// Whether the other rank has answered, which only a process of the same job can, and has not closed the connection
  /// since.
  bool is_open() const { return state_ == State::kOpen; }
  /// Whether the last attempt at each address was refused (ECONNREFUSED): no process listens there any more.
  bool is_refused() const { return !addresses_.empty() && num_refused_ >= addresses_.size(); }
  /// Whether the other rank's host has acknowledged all TCP data that were sent. The rank's process may be stopped
  /// nevertheless.
  bool reaches_host() const {
    return (state_ == State::kGreeting || state_ == State::kOpen) && !socket_.is_unacknowledged();
  }

  /// Sends a packet. Returns false if the connection is not open or the packet cannot be sent now.
  bool send(const Packet& packet) { return socket_.send(packet); }
  /// Returns the packets that have arrived. Does not wait. Also continues the work of open().
  std::vector<Packet> receive();
  /// Returns the socket and the event that receive() needs next, for poll(2); the socket is -1 if there is none.
  pollfd awaited() const;

 private:
  /// How far the connection is.
  enum class State {
    kClosed,
    kPausing,     ///< an attempt failed; the next one follows after a pause
    kConnecting,  ///< the TCP connection is not complete
    kGreeting,    ///< the hello was sent and has no answer yet
    kOpen,
  };

  void attempt();
  void fail_attempt();
  void finish_connecting();

  Dialogue dialogue_;
  std::vector<std::string> addresses_;
  Packet hello_;
  State state_ = State::kClosed;
  std::size_t next_address_ = 0, num_refused_ = 0;
  double attempt_seconds_ = 0;   ///< time limit of each attempt, which doubles when all addresses have failed
  double deadline_seconds_ = 0;  ///< end of this attempt, or of the pause
  FileDescriptor connecting_;
  PacketSocket socket_;
};

}  // namespace convoy
