/// The connection that this rank opens to one other.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <poll.h>

#include "convoy/base/file_descriptor.h"

#include "watch/packet_socket.h"

namespace convoy {

class OutgoingLink {
 public:
  /// `addresses`: as IncomingLinks of the other rank gives them.
  OutgoingLink(const Secret& secret, std::int64_t own, std::int64_t other, std::vector<std::string> addresses);

  /// Begins to connect, unless it does so already or is open. receive() continues with it, again and again, until the
  /// other rank has answered `hello` or close() is called.
  void open(const Packet& hello);
  void close();
  /// Connects as open() does, and waits for the answer; false if none came within `patience`.
  bool connect(const Packet& hello, std::chrono::milliseconds patience);

  /// Whether the other rank has answered, which only one of this job can, and has not closed since.
  bool is_open() const { return state_ == State::kOpen; }
  /// Whether the last attempt at each address was refused: no process listens there any more.
  bool is_refused() const { return !addresses_.empty() && num_refused_ >= addresses_.size(); }
  /// Whether the other rank's host has answered all that was sent to it. Its process may be stopped.
  bool reaches_host() const {
    return (state_ == State::kGreeting || state_ == State::kOpen) && !socket_.is_unacknowledged();
  }

  bool send(const Packet& packet) { return socket_.send(packet); }
  /// Returns what has come.
  std::vector<Packet> receive();
  /// What receive() waits for.
  pollfd awaited() const;

 private:
  enum class State {
    kClosed,
    kPausing,     ///< after an attempt that failed
    kConnecting,  ///< TCP
    kGreeting,    ///< the hello has no answer yet
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
  double attempt_seconds_ = 0;   ///< that each attempt of this round gets
  double deadline_seconds_ = 0;  ///< of this attempt, or of the pause
  FileDescriptor connecting_;
  PacketSocket socket_;
};

}  // namespace convoy
