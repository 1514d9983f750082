/// See simulated_stage.h.
#include "schedule/simulated_stage.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace convoy::schedule {

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
