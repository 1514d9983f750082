/// Simulated time for instruction lists. Each stage advances as soon as all that its next instruction waits for is
/// known; where no stage can, the lists deadlock.
#include "convoy/schedule/simulator.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "convoy/base/error.h"

namespace convoy {

namespace {

using Time = std::optional<double>;  ///< seconds; empty: not known yet, and never to be known where the lists deadlock

/// A time that needs both.
Time later(Time a, Time b) {
  return a && b ? Time(std::max(*a, *b)) : std::nullopt;
}

/// The k-th message of a kind that crosses a boundary; sends and receives are matched by that k, as MPI does.
struct Message {
  std::int64_t micro_batch = 0;
  Time sent;     ///< the sender has reached the send
  Time arrived;  ///< the data have left the sender and are with the receiver
};

/// One direction across one boundary. A message follows the one before it: two do not share the wire.
struct Channel {
  std::size_t sender = 0, receiver = 0;
  Op send = Op::kSendActivation, receive = Op::kRecvActivation;
  double transfer_seconds = 0;
  std::vector<Message> messages;
};

std::vector<std::int64_t> micro_batches_of(const StageProgram& program, Op op) {
  std::vector<std::int64_t> micro_batches;
  for (const Instruction& i : program) {
    if (i.op == op) micro_batches.push_back(i.micro_batch);
  }
  return micro_batches;
}

/// What each instruction of a list takes by itself.
std::vector<double> seconds_of(const StageProgram& program, const StageCost& cost) {
  std::map<std::int64_t, int> parts;  // of a micro-batch's backward
  for (const std::int64_t m : micro_batches_of(program, Op::kBackward)) ++parts[m];
  std::vector<double> seconds;
  for (const Instruction& i : program) {
    const bool backward = i.op == Op::kBackward;
    seconds.push_back(backward               ? cost.backward_seconds / parts[i.micro_batch]
                      : i.op == Op::kForward ? cost.forward_seconds
                                             : 0);
  }
  return seconds;
}

/// A stage on its way through its list.
struct Stage {
  Stage(const StageProgram& list, const StageCost& cost)
      : program(list), seconds(seconds_of(list, cost)), slots(slot_uses(list)) {
    num_slots = static_cast<std::size_t>(std::max<std::int64_t>(1, max_in_flight(list)));
    std::map<Op, std::size_t> count;
    for (const Instruction& i : program) ordinals.push_back(count[i.op]++);
  }

  bool done() const { return spans.size() == program.size(); }
  const Instruction& next() const { return program[spans.size()]; }
  std::size_t ordinal() const { return ordinals[spans.size()]; }  ///< of the next instruction among its kind
  double clock() const { return spans.empty() ? 0 : spans.back().end_seconds; }
  Time end_of(std::size_t place) const { return place < spans.size() ? Time(spans[place].end_seconds) : std::nullopt; }

  const StageProgram& program;
  std::vector<double> seconds;  ///< by place in the list
  std::vector<SlotUse> slots;
  std::size_t num_slots = 1;
  std::vector<std::size_t> ordinals;
  std::vector<Span> spans;
};

/// Sends without a receive, and receives of another micro-batch than the one sent, would go unnoticed in time.
void check_messages(const Channel& channel, const StageProgram& receiver) {
  const auto received = micro_batches_of(receiver, channel.receive);
  for (std::size_t k = 0; k < channel.messages.size(); ++k) {
    const Instruction send{channel.send, channel.messages[k].micro_batch};
    if (k >= received.size()) {
      fail("Stage {} never receives {} of stage {}.", channel.receiver, to_string(send), channel.sender);
    }
    if (received[k] != send.micro_batch) {
      fail("Stage {} comes to {} where stage {} comes to {}: sends and receives must match in order.", channel.sender,
           to_string(send), channel.receiver, to_string(Instruction{channel.receive, received[k]}));
    }
  }
}

/// The first stage has none before it, the last none behind it.
void check_ends(const Schedule& schedule) {
  const auto refuse_in = [](const StageProgram& program, Op op) {
    for (const Instruction& i : program) {
      if (i.op == op) fail("{} needs a neighbour that the stage does not have.", to_string(i));
    }
  };
  if (schedule.empty()) return;
  for (const Op op : {Op::kRecvActivation, Op::kSendGradient}) refuse_in(schedule.front(), op);
  for (const Op op : {Op::kSendActivation, Op::kRecvGradient}) refuse_in(schedule.back(), op);
}

/// The clocks. Times are asked for backwards: an arrival asks when its receive was posted, that when the slot before
/// was free, and so on, down to instructions that have run. Those that have not yet answer "not known".
class Simulator {
 public:
  Simulator(const Schedule& schedule, const std::vector<StageCost>& costs, bool zero_buffering)
      : zero_buffering_(zero_buffering) {
    check_ends(schedule);
    for (std::size_t s = 0; s < schedule.size(); ++s) stages_.emplace_back(schedule[s], costs[s]);
    for (std::size_t s = 0; s + 1 < schedule.size(); ++s) {
      open(behind_, {s, s + 1, Op::kSendActivation, Op::kRecvActivation, costs[s].transfer_seconds, {}});
      open(before_, {s + 1, s, Op::kSendGradient, Op::kRecvGradient, costs[s].transfer_seconds, {}});
    }
  }

  Simulation run() {
    while (!std::all_of(stages_.begin(), stages_.end(), [](const Stage& stage) { return stage.done(); })) {
      bool advanced = false;
      for (std::size_t s = 0; s < stages_.size(); ++s) {
        while (!stages_[s].done() && advance(s)) advanced = true;
      }
      if (!advanced) report_deadlock();
    }
    return result();
  }

 private:
  void open(std::vector<Channel>& channels, Channel channel) {
    for (const std::int64_t m : micro_batches_of(stages_[channel.sender].program, channel.send)) {
      channel.messages.push_back({.micro_batch = m, .sent = {}, .arrived = {}});
    }
    check_messages(channel, stages_[channel.receiver].program);
    channels.push_back(std::move(channel));
  }

  /// The channel that a send of stage s writes to, none for other instructions.
  Channel* outgoing(std::size_t s, Op op) {
    if (op == Op::kSendActivation && s < behind_.size()) return &behind_[s];
    if (op == Op::kSendGradient && s > 0) return &before_[s - 1];
    return nullptr;
  }

  /// The channel that a receive of stage s reads from, none for other instructions.
  Channel* incoming(std::size_t s, Op op) {
    if (op == Op::kRecvActivation) return &behind_[s - 1];
    if (op == Op::kRecvGradient) return &before_[s];
    return nullptr;
  }

  /// Runs the next instruction of stage s, if it is known when it ends.
  bool advance(std::size_t s) {
    Stage& stage = stages_[s];
    if (Channel* channel = outgoing(s, stage.next().op)) channel->messages[stage.ordinal()].sent = stage.clock();
    const Time end = end_of_next(s);
    if (end) stage.spans.push_back({stage.next(), stage.clock(), *end});
    return end.has_value();
  }

  Time end_of_next(std::size_t s) {
    const Stage& stage = stages_[s];
    const double now = stage.clock();
    if (Channel* channel = incoming(s, stage.next().op)) return later(now, arrival(channel, stage.ordinal()));
    if (stage.next().op == Op::kLoadInput && zero_buffering_) return later(now, slot_free(s, stage.ordinal()));
    return now + stage.seconds[stage.spans.size()];
  }

  /// When the k-th message of a channel is with its receiver.
  Time arrival(Channel* channel, std::size_t k) {
    if (k >= channel->messages.size()) return std::nullopt;
    Message& message = channel->messages[k];
    if (!message.arrived) {
      Time start = message.sent;
      if (start && k > 0) start = later(start, arrival(channel, k - 1));
      if (start && zero_buffering_) start = later(start, posted(*channel, k));
      if (start) message.arrived = *start + channel->transfer_seconds;
    }
    return message.arrived;
  }

  /// When the k-th receive of a channel is posted: at the first instruction that its stage begins with the buffer free,
  /// at the latest by the receive itself.
  Time posted(const Channel& channel, std::size_t k) {
    const std::size_t r = channel.receiver;
    const Time free = channel.receive == Op::kRecvActivation ? slot_free(r, k) : gradient_buffer_free(r, k);
    if (!free) return std::nullopt;
    const Stage& stage = stages_[r];
    const auto chance = std::lower_bound(stage.spans.begin(), stage.spans.end(), *free,
                                         [](const Span& span, double time) { return span.begin_seconds < time; });
    if (chance != stage.spans.end()) return chance->begin_seconds;
    if (stage.done()) return std::nullopt;
    if (stage.clock() >= *free) return stage.clock();
    const bool reached = stage.next().op == channel.receive && stage.ordinal() == k;
    return reached ? free : std::nullopt;
  }

  /// When the activation slot that the k-th micro-batch of stage s needs is free: whoever held it is released and has
  /// nothing left to send.
  Time slot_free(std::size_t s, std::size_t k) {
    const Stage& stage = stages_[s];
    if (k < stage.num_slots) return 0;
    const SlotUse& before = stage.slots[k - stage.num_slots];
    Time free = stage.end_of(before.released_at);
    for (const Op send : {Op::kSendActivation, Op::kSendGradient}) {
      if (const auto k_sent = message_of(s, send, before.micro_batch)) {
        free = later(free, arrival(outgoing(s, send), *k_sent));
      }
    }
    return free;
  }

  /// When the buffer of the k-th gradient that stage s receives is free: the backward of the last but one is done.
  Time gradient_buffer_free(std::size_t s, std::size_t k) {
    constexpr std::size_t kBuffers = 2;
    if (k < kBuffers) return 0;
    const Stage& stage = stages_[s];
    const std::int64_t before = incoming(s, Op::kRecvGradient)->messages[k - kBuffers].micro_batch;
    const auto use = std::find_if(stage.slots.begin(), stage.slots.end(),
                                  [before](const SlotUse& slot) { return slot.micro_batch == before; });
    return use == stage.slots.end() ? Time(0) : stage.end_of(use->released_at);
  }

  /// The how-manieth message of that kind is of this micro-batch, if stage s sends it at all.
  std::optional<std::size_t> message_of(std::size_t s, Op send, std::int64_t micro_batch) {
    const Channel* channel = outgoing(s, send);
    if (!channel) return std::nullopt;
    for (std::size_t k = 0; k < channel->messages.size(); ++k) {
      if (channel->messages[k].micro_batch == micro_batch) return k;
    }
    return std::nullopt;
  }

  [[noreturn]] void report_deadlock() {
    std::string waits;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      if (stages_[s].done()) continue;
      waits += fmt::format("{}stage {} at {} waits for {}", waits.empty() ? "" : "; ", s, to_string(stages_[s].next()),
                           awaited(s));
    }
    fail("The schedule deadlocks{}: {}.", zero_buffering_ ? " without buffering" : "", waits);
  }

  /// What stage s waits for; it is stuck, so its next instruction is one that waits.
  std::string awaited(std::size_t s) {
    const Stage& stage = stages_[s];
    const std::size_t k = stage.ordinal();
    const Channel* channel = incoming(s, stage.next().op);
    if (channel) {
      const Instruction send{channel->send, stage.next().micro_batch};
      if (k >= channel->messages.size()) {
        return fmt::format("{} of stage {}, whose list has none", to_string(send), channel->sender);
      }
      if (!channel->messages[k].sent) return fmt::format("{} of stage {}", to_string(send), channel->sender);
      if (channel->receive == Op::kRecvGradient) return "a gradient buffer, held until a later Backward";
    }
    const SlotUse& holder = stage.slots[k - stage.num_slots];
    if (!stage.end_of(holder.released_at)) return fmt::format("the slot that micro-batch {} holds", holder.micro_batch);
    return fmt::format("the slot of micro-batch {}, which is still being sent", holder.micro_batch);
  }

  Simulation result() const {
    Simulation simulation;
    double computed_seconds = 0;
    for (const Stage& stage : stages_) {
      computed_seconds = std::accumulate(stage.seconds.begin(), stage.seconds.end(), computed_seconds);
      simulation.step_seconds = std::max(simulation.step_seconds, stage.clock());
      simulation.stages.push_back(stage.spans);
    }
    const double held_seconds = static_cast<double>(stages_.size()) * simulation.step_seconds;
    if (held_seconds > 0) simulation.bubble = std::max(0.0, 1 - computed_seconds / held_seconds);
    return simulation;
  }

  bool zero_buffering_;
  std::vector<Stage> stages_;
  std::vector<Channel> behind_;  ///< by boundary: activations, from stage b to b + 1
  std::vector<Channel> before_;  ///< by boundary: gradients, from stage b + 1 to b
};

}  // namespace

Simulation simulate(const Schedule& schedule, const std::vector<StageCost>& costs, bool zero_buffering) {
  if (costs.size() != schedule.size()) {
    fail("A schedule of {} stages was given the costs of {}.", schedule.size(), costs.size());
  }
  return Simulator(schedule, costs, zero_buffering).run();
}

}  // namespace convoy
