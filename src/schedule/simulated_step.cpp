/// See simulated_step.h.
#include "schedule/simulated_step.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "convoy/base/error.h"

namespace convoy::schedule {

namespace {

bool is_send(Op op) {
  return op == Op::kSendActivation || op == Op::kSendGradient;
}

bool is_receive(Op op) {
  return op == Op::kRecvActivation || op == Op::kRecvGradient;
}

}  // namespace

SimulatedNetwork::SimulatedNetwork(const std::vector<BoundProgram>& programs, const PipelineCosts& costs,
                                   bool zero_buffering)
    : num_stages_(std::ssize(programs)),
      num_virtual_(std::ssize(costs.chunks)),
      zero_buffering_(zero_buffering),
      wires_free_(programs.size() * programs.size(), 0.0) {
  for (std::int64_t x = 0; x + 1 < num_virtual_; ++x) {
    open(x, x + 1, Op::kSendActivation, Op::kRecvActivation, costs.chunks[x].to_next);
    open(x + 1, x, Op::kSendGradient, Op::kRecvGradient, costs.chunks[x].to_next);
  }
  for (std::int64_t s = 0; s < num_stages_; ++s) note_sends(programs[s], s);
  for (std::int64_t s = 0; s < num_stages_; ++s) check_receives(programs[s], s);
  for (Channel& channel : channels_) {
    if (channel.num_receives < std::ssize(channel.micro_batches))
      fail("Stage {} never receives {} of stage {}.", channel.receiver,
           to_string(channel.sending(channel.num_receives)), channel.sender);
    channel.messages.resize(channel.micro_batches.size());
  }
}

void SimulatedNetwork::open(std::int64_t from, std::int64_t to, Op send, Op receive, const TransferCost& transfer) {
  const std::int64_t sender = from % num_stages_, receiver = to % num_stages_;
  channels_.push_back({.sender = sender,
                       .receiver = receiver,
                       .send = {.op = send, .chunk = from / num_stages_},
                       .receive = {.op = receive, .chunk = to / num_stages_},
                       .wire = static_cast<std::size_t>(sender * num_stages_ + receiver),
                       .wire_seconds = transfer.wire_seconds(),
                       .latency_seconds = transfer.latency_seconds,
                       .messages = {},
                       .micro_batches = {}});
}

void SimulatedNetwork::note_sends(const BoundProgram& program, std::int64_t stage) {
  for (const Action& action : program.actions) {
    const Instruction& i = action.instruction;
    if (!is_send(i.op) && !is_receive(i.op)) continue;
    Channel* channel = channel_of(stage, i.op, i.chunk);
    if (channel == nullptr) fail("{} needs a neighbour that the stage does not have.", to_string(i));
    if (is_send(i.op)) channel->micro_batches.push_back(i.micro_batch);
  }
}

// Without this check, a receive of another micro-batch than the one sent would not show in simulated time.
void SimulatedNetwork::check_receives(const BoundProgram& program, std::int64_t stage) {
  for (const Action& action : program.actions) {
    const Instruction& i = action.instruction;
    if (!is_receive(i.op)) continue;
    Channel& channel = *channel_of(stage, i.op, i.chunk);
    const std::int64_t k = channel.num_receives++;
    if (k < std::ssize(channel.micro_batches) && channel.micro_batches[k] != i.micro_batch) {
      fail("Stage {} comes to {} where stage {} comes to {}: sends and receives must match in order.", channel.sender,
           to_string(channel.sending(k)), stage, to_string(i));
    }
  }
}

std::int64_t SimulatedNetwork::start(Channel& channel, std::int64_t k, double now) {
  double& wire_free = wires_free_[channel.wire];
  wire_free = std::max(now, wire_free) + channel.wire_seconds;
  channel.messages[k] = {.ready = now, .left = wire_free, .arrived = wire_free + channel.latency_seconds};
  return k;
}

SimulatedStage::SimulatedStage(const BoundProgram& program_in, WorkSeconds work_in, const PipelineCosts& costs,
                               std::size_t s, std::size_t num_stages)
    : program(&program_in), work(std::move(work_in)), chunks(costs.chunks.size() / num_stages) {
  std::vector<std::int64_t> num_buckets(chunks.size(), 0);
  for (const Action& action : program->actions) {
    const Instruction& i = action.instruction;
    num_buckets[i.chunk] = std::max(num_buckets[i.chunk], i.bucket + 1);
  }
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    SimulatedChunk& chunk = chunks[c];
    chunk.cost = &costs.chunks[c * num_stages + s];
    if (c < program->num_frames.size()) chunk.sent_from_frame.assign(program->num_frames[c], -1);
    chunk.exchanges.resize(num_buckets[c]);
  }
}

void SimulatedStage::begin(double now) {
  has_begun = true;
  begin_seconds = now;
}

Wait SimulatedStage::wait_for(const Channel& channel, std::int64_t k, double SimulatedMessage::*time) {
  if (k < std::ssize(channel.messages) && channel.messages[k].*time != kUnknown)
    return {.until_seconds = channel.messages[k].*time, .ready_seconds = channel.messages[k].ready};
  awaited = {.channel = &channel, .message = k};
  return {.until_seconds = kUnknown};
}

double SimulatedStage::start_work(const Wait& wait, double now) {
  const double seconds = work[position];
  const double communication = now - std::max(begin_seconds, std::min(now, wait.ready_seconds));
  times.communication_seconds += communication;
  times.bubble_seconds += now - begin_seconds - communication;
  times.busy_seconds += seconds;
  ready_seconds = now;
  is_working = true;
  return seconds;
}

void SimulatedStage::finish(double now) {
  has_begun = is_working = false;
  ++position;
  end_seconds = now;
}

double SimulatedStage::exchange(double now, double seconds) {
  exchange_free_seconds = std::max(now, exchange_free_seconds) + seconds;
  return exchange_free_seconds;
}

std::string SimulatedStage::awaited_text() const {
  const auto& [channel, k] = awaited;
  const Instruction& i = next().instruction;
  if (channel == nullptr) return "the other stages";
  if (k >= std::ssize(channel->messages)) {
    const Instruction send{.op = channel->send.op, .micro_batch = i.micro_batch, .chunk = channel->send.chunk};
    return fmt::format("{} of stage {}, whose list has none", to_string(send), channel->sender);
  }
  if (i.op == channel->receive.op)
    return fmt::format("{} of stage {}", to_string(channel->sending(k)), channel->sender);
  return fmt::format("its {} to leave, for which stage {} has no buffer yet", to_string(channel->sending(k)),
                     channel->receiver);
}

}  // namespace convoy::schedule
