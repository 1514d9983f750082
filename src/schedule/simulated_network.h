/// The messages of a simulated step: when they leave, and when they arrive.
#pragma once

#include <cstddef>
#include <vector>

#include "convoy/schedule/bound_program.h"
#include "convoy/schedule/costs.h"

namespace convoy::schedule {

inline constexpr double kUnknown = -1;  ///< a time that is not known yet

/// The times of a message on its way from its sender's frame or buffer to its receiver's.
struct SimulatedMessage {
  double ready = kUnknown;    ///< it is sent and, without buffering, posted
  double left = kUnknown;     ///< it has passed the wire: the sender's buffer is free
  double arrived = kUnknown;  ///< it is in the receiver's buffer
};

/// One direction across one virtual boundary. The k-th send matches the k-th receive, as in MPI.
struct Channel {
  std::int64_t sender = 0, receiver = 0;  ///< indices of stages
  Instruction send, receive;              ///< the instructions' kinds and chunks
  std::size_t wire = 0;
  double wire_seconds = 0, latency_seconds = 0;
  std::vector<SimulatedMessage> messages;
  std::vector<std::int64_t> micro_batches;  ///< by message
  std::int64_t num_receives = 0;            ///< in the receiver's list
  std::int64_t num_sent = 0, num_posted = 0, num_received = 0;

  /// Returns its k-th send.
  Instruction sending(std::int64_t k) const {
    return {.op = send.op, .micro_batch = micro_batches[k], .chunk = send.chunk};
  }
};

/// The channels between all virtual stages, and the wires that they share.
class SimulatedNetwork {
 public:
  /// Throws Error if sends and receives do not match.
  SimulatedNetwork(const std::vector<BoundProgram>& programs, const PipelineCosts& costs, bool zero_buffering);

  bool is_zero_buffering() const { return zero_buffering_; }

  /// Returns the channel of a send or receive of that stage; null if the stage has no such neighbour.
  Channel* channel_of(std::int64_t stage, Op op, std::int64_t chunk) {
    const std::int64_t x = chunk * num_stages_ + stage;
    const bool is_next = op == Op::kSendActivation || op == Op::kRecvGradient;
    const bool is_gradient = op == Op::kSendGradient || op == Op::kRecvGradient;
    const std::int64_t boundary = is_next ? x : x - 1;
    if (boundary < 0 || boundary + 1 >= num_virtual_) return nullptr;
    return &channels_[2 * boundary + (is_gradient ? 1 : 0)];
  }

  /// Makes the next send of a channel. Returns the message that leaves now; -1 if none does.
  std::int64_t send(Channel& channel, double now) {
    const std::int64_t k = channel.num_sent++;
    return !zero_buffering_ || k < channel.num_posted ? start(channel, k, now) : -1;
  }
  /// Posts the next receive of a channel. Returns the message that leaves now; -1 if none does.
  std::int64_t post(Channel& channel, double now) {
    const std::int64_t k = channel.num_posted++;
    return zero_buffering_ && k < channel.num_sent ? start(channel, k, now) : -1;
  }

 private:
  void open(std::int64_t from, std::int64_t to, Op send, Op receive, const TransferCost& transfer);
  void note_sends(const BoundProgram& program, std::int64_t stage);
  void check_receives(const BoundProgram& program, std::int64_t stage);
  std::int64_t start(Channel& channel, std::int64_t k, double now);

  std::int64_t num_stages_, num_virtual_;
  bool zero_buffering_;
  std::vector<Channel> channels_;   ///< two per virtual boundary: activations, gradients
  std::vector<double> wires_free_;  ///< by sender and receiver: when each wire is free
};

}  // namespace convoy::schedule
