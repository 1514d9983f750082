/// The state of a simulated step: the messages between its stages, and for each stage its position in its instruction
/// list, the message for which it waits, and how it has spent its time. All times are in seconds since the step began.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/schedule/bound_program.h"
#include "convoy/schedule/costs.h"
#include "convoy/schedule/simulator.h"

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

/// The times at which the exchanges of a bucket between replicas are complete: the reduction of its gradients, and the
/// gathering of its updated parameters.
struct SimulatedExchange {
  double reduced = kUnknown, gathered = kUnknown;
};

/// The state of one chunk of a stage.
struct SimulatedChunk {
  const ChunkCost* cost = nullptr;
  std::vector<SimulatedExchange> exchanges;   ///< one for each bucket
  std::vector<std::int64_t> sent_from_frame;  ///< for each frame, the last message with an activation from it; -1: none
  /// For each gradient buffer, the last message with a gradient from it; -1: none.
  std::int64_t sent_from_buffer[kGradientBuffers] = {-1, -1};
};

/// The wait of an instruction for a message. The time before `ready_seconds` counts as bubble, the time after it as
/// communication.
struct Wait {
  double until_seconds = 0;  ///< when the wait ends; kUnknown: not known yet
  double ready_seconds = 0;  ///< when the message could start (SimulatedMessage::ready)
};

/// The message for which a stage waits, if the end of the wait is not known yet.
struct AwaitedMessage {
  const Channel* channel = nullptr;  ///< null: the stage waits for no message
  std::int64_t message = 0;
};

/// The state of a stage in a simulated step.
struct SimulatedStage {
  /// Makes stage number `s` of `num_stages`, before its first instruction. `costs` are those of all stages. program_in
  /// and costs must outlive the object.
  SimulatedStage(const BoundProgram& program_in, WorkSeconds work_in, const PipelineCosts& costs, std::size_t s,
                 std::size_t num_stages);

  bool done() const { return position == program->actions.size(); }
  const Action& next() const { return program->actions[position]; }

  /// Begins the next instruction, which may have to wait before it works.
  void begin(double now);
  /// Returns the wait for the member `time` (left or arrived) of the channel's message k. If it is kUnknown, it also
  /// sets `awaited` to this message.
  Wait wait_for(const Channel& channel, std::int64_t k, double SimulatedMessage::*time);
  /// Ends the wait and begins the instruction's own work. Returns how long the work takes, in seconds.
  double start_work(const Wait& wait, double now);
  /// Ends the instruction.
  void finish(double now);

  /// Starts an exchange between replicas that takes `seconds`. Returns the time at which it is complete. The exchanges
  /// of a stage run one after the other.
  double exchange(double now, double seconds);
  /// Returns a text for an error message: for what the stage waits, if it cannot execute its next instruction.
  std::string awaited_text() const;

  const BoundProgram* program;
  WorkSeconds work;
  std::vector<SimulatedChunk> chunks;
  std::optional<std::size_t> shared;  ///< index in PipelineCosts::shared; nothing: it shares its cores with no stage
  std::size_t position = 0;           ///< index of the next instruction in the list
  bool has_begun = false;             ///< whether the next instruction has begun
  bool is_working = false;            ///< whether the next instruction has ended its wait and works
  double begin_seconds = 0;           ///< when the next instruction began
  double ready_seconds = 0;           ///< when the next instruction ended its wait and began to work
  AwaitedMessage awaited;
  double end_seconds = 0;  ///< when the last instruction ended
  std::size_t num_agreed = 0;
  double exchange_free_seconds = 0;  ///< when all exchanges that were started are complete
  StageTimes times;
};

}  // namespace convoy::schedule
