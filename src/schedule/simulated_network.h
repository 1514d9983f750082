/// The messages between the stages of a simulated step: the times at which they leave and arrive. All times are in
/// seconds since the step began.
#pragma once

#include <cstddef>
#include <vector>

#include "convoy/schedule/bound_program.h"
#include "convoy/schedule/costs.h"

namespace convoy::schedule {

inline constexpr double kUnknown = -1;  ///< the value of a simulated time that is not known yet

/// The times of a message, in seconds of simulated time; kUnknown until it starts.
struct SimulatedMessage {
  double ready = kUnknown;    ///< when it can start: it was sent and, if there is no buffering, its receive was posted
  double left = kUnknown;     ///< when the sender's memory is free, because the message has passed the wire
  double arrived = kUnknown;  ///< when it is in the receiver's memory
};

/// The messages in one direction between two neighbouring virtual stages. The k-th send matches the k-th receive, as in
/// MPI.
struct Channel {
  std::int64_t sender = 0, receiver = 0;         ///< indices of the stages that send and receive
  Instruction send, receive;                     ///< the kind and the chunk of the instructions that send and receive
  std::size_t wire = 0;                          ///< index of the wire from sender to receiver
  double wire_seconds = 0, latency_seconds = 0;  ///< time that a message occupies the wire, and then still travels
  std::vector<SimulatedMessage> messages;
  std::vector<std::int64_t> micro_batches;  ///< micro-batch of each message
  std::int64_t num_receives = 0;            ///< number of receives in the receiver's instruction list
  std::int64_t num_sent = 0, num_posted = 0, num_received = 0;  ///< numbers of sends, posts, receives so far

  /// Returns the sender's instruction for message k.
  Instruction sending(std::int64_t k) const {
    return {.op = send.op, .micro_batch = micro_batches[k], .chunk = send.chunk};
  }
};

/// The channels between all neighbouring virtual stages, and the wires that they share. There is one wire from each
/// stage to each other.
class SimulatedNetwork {
 public:
  /// With zero_buffering, a message starts only after its receive was posted. Throws Error if the sends and receives of
  /// the stages' lists do not match.
  SimulatedNetwork(const std::vector<BoundProgram>& programs, const PipelineCosts& costs, bool zero_buffering);

  bool is_zero_buffering() const { return zero_buffering_; }

  /// Returns the channel of a stage's send or receive instruction; null if the stage has no neighbour on that side.
  Channel* channel_of(std::int64_t stage, Op op, std::int64_t chunk) {
    const std::int64_t x = chunk * num_stages_ + stage;
    const bool is_next = op == Op::kSendActivation || op == Op::kRecvGradient;
    const bool is_gradient = op == Op::kSendGradient || op == Op::kRecvGradient;
    const std::int64_t boundary = is_next ? x : x - 1;
    if (boundary < 0 || boundary + 1 >= num_virtual_) return nullptr;
    return &channels_[2 * boundary + (is_gradient ? 1 : 0)];
  }

  /// The sender executes its next send at the simulated time `now`. Returns the index of this message if it starts now;
  /// -1 if it must wait until its receive is posted.
  std::int64_t send(Channel& channel, double now) {
    const std::int64_t k = channel.num_sent++;
    return !zero_buffering_ || k < channel.num_posted ? start(channel, k, now) : -1;
  }
  /// The receiver posts its next receive at the simulated time `now`. Returns the index of the message if that makes it
  /// start; -1 if it was not sent yet or, with buffering, did not wait for the post.
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
  std::vector<Channel> channels_;   ///< two for each pair of neighbouring virtual stages: activations, gradients
  std::vector<double> wires_free_;  ///< (sender, receiver): the time from which on each wire is free
};

}  // namespace convoy::schedule
