/// Orders by simulated time: a stage that is free takes the best pass whose inputs have arrived. An event is a stage
/// that may have work, because it has become free or a message has arrived.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "convoy/schedule/bound_program.h"

#include "schedule/stage_builder.h"

namespace convoy::schedule {

namespace {

using Ticks = std::int64_t;

constexpr Ticks kNever = std::numeric_limits<Ticks>::max();

/// The number of ticks of the longest pass. Passes that take the same number of seconds take the same number of ticks.
constexpr double kTicksOfLongest = 1 << 20;

struct ChunkTicks {
  Ticks forward = 0, backward = 0, weight = 0;
  Ticks wire = 0, latency = 0;  ///< of the boundary to the next stage
};

std::vector<ChunkTicks> ticks_of(const PipelineSpec& spec, bool splits_backward) {
  const std::vector<ChunkCost> chunks = costs_or_equal(spec).chunks;
  const auto forward = [](const ChunkCost& c) { return c.load_seconds + c.forward_seconds + c.loss_seconds; };
  const auto backward = [splits_backward](const ChunkCost& c) {
    return splits_backward ? c.backward_input_seconds : c.joint_backward_seconds();
  };
  double longest = 0;
  for (const ChunkCost& c : chunks) longest = std::max({longest, forward(c), backward(c), c.backward_weight_seconds});
  // Transfers may be far longer than passes, so they are limited: a step's sum stays far below 2^63.
  const auto ticks = [longest](double value) {
    return longest > 0 ? static_cast<Ticks>(std::llround(std::min(value / longest, 1024.0) * kTicksOfLongest)) : 0;
  };
  std::vector<ChunkTicks> all;
  for (const ChunkCost& c : chunks)
    all.push_back({.forward = ticks(forward(c)),
                   .backward = ticks(backward(c)),
                   .weight = ticks(c.backward_weight_seconds),
                   .wire = ticks(c.to_next.wire_seconds()),
                   .latency = ticks(c.to_next.latency_seconds)});
  return all;
}

class ListScheduler {
 public:
  ListScheduler(const PipelineSpec& spec, const OrderRule& rule)
      : stages_(spec.stages),
        micro_batches_(spec.micro_batches),
        rule_(rule),
        ticks_(ticks_of(spec, rule.splits_backward)),
        progress_(spec.stages),
        orders_(spec.stages),
        chunks_(spec.virtual_stages()) {
    for (Chunk& chunk : chunks_) {
      chunk.activations.assign(micro_batches_, kNever);
      chunk.gradients.assign(micro_batches_, kNever);
      chunk.backward_ends.assign(micro_batches_, kNever);
    }
    chunks_.front().activations.assign(micro_batches_, 0);
    for (auto& order : orders_) order.reserve(rule.forward.size() * (rule.splits_backward ? 3 : 2));
  }

  Orders run() {
    for (std::int64_t s = 0; s < stages_; ++s) events_.push({0, s});
    std::vector<std::int64_t> woken;
    while (!events_.empty()) {
      // All events of this time are taken before anything is decided at this time.
      const Ticks now = events_.top().first;
      woken.clear();
      while (!events_.empty() && events_.top().first == now) {
        if (woken.empty() || woken.back() != events_.top().second) woken.push_back(events_.top().second);
        events_.pop();
      }
      for (const std::int64_t s : woken) decide(s, now);
    }
    return std::move(orders_);
  }

 private:
  using Event = std::pair<Ticks, std::int64_t>;  ///< when, stage

  struct Progress {
    std::int64_t forward = 0, backward = 0, weight = 0;  ///< passes begun
    Ticks free_at = 0;
  };

  struct Chunk {
    std::vector<Ticks> activations, gradients;  ///< by micro-batch: arrival at this chunk; on the last: end of the loss
    std::vector<Ticks> backward_ends;           ///< by micro-batch
    Ticks activation_wire_free = 0, gradient_wire_free = 0;  ///< when the wires away from this chunk are free
  };

  std::int64_t index_of(std::int64_t s, const Visit& visit) const { return visit.chunk * stages_ + s; }

  bool can_go_forward(std::int64_t s, Ticks now) const {
    const Visit& visit = rule_.forward[progress_[s].forward];
    return chunks_[index_of(s, visit)].activations[visit.micro_batch] <= now;
  }

  bool can_go_backward(std::int64_t s, Ticks now) const {
    const Progress& progress = progress_[s];
    if (progress.backward == std::ssize(rule_.backward)) return false;
    const Visit& visit = rule_.backward[progress.backward];
    const std::int64_t x = index_of(s, visit), m = visit.micro_batch;
    // The gradient sent two before this one must have left its buffer. It leaves for a buffer of the receiver, which is
    // free once the receiver has used the gradient that is two before that one.
    constexpr std::int64_t kBetween = 2 * kGradientBuffers;
    if (x > 0 && m >= kBetween && chunks_[x - 1].backward_ends[m - kBetween] > now) return false;
    return chunks_[x].gradients[m] <= now;
  }

  void decide(std::int64_t s, Ticks now) {
    const Progress& progress = progress_[s];
    if (progress.free_at > now) return;
    const bool has_weights = rule_.splits_backward && progress.weight < progress.backward;
    const bool may_go_ahead =
        progress.forward < std::ssize(rule_.forward) && progress.forward - progress.backward < rule_.max_ahead[s];
    if (may_go_ahead && can_go_forward(s, now)) {
      if (!rule_.splits_backward || progress.forward - progress.weight < rule_.max_held) return forward(s, now);
      if (has_weights) return weight(s, now);
    }
    if (can_go_backward(s, now)) return backward(s, now);
    if (has_weights) weight(s, now);
  }

  void forward(std::int64_t s, Ticks now) {
    const Visit& visit = rule_.forward[progress_[s].forward++];
    const std::int64_t x = index_of(s, visit);
    const Ticks end = pass(s, now, {Op::kForward, visit}, ticks_[x].forward);
    if (x + 1 == std::ssize(chunks_)) {
      chunks_[x].gradients[visit.micro_batch] = end;
      return;
    }
    chunks_[x + 1].activations[visit.micro_batch] = send(x, x + 1, end, chunks_[x].activation_wire_free);
  }

  void backward(std::int64_t s, Ticks now) {
    const Visit& visit = rule_.backward[progress_[s].backward++];
    const std::int64_t x = index_of(s, visit);
    const Op op = rule_.splits_backward ? Op::kBackwardInput : Op::kBackward;
    const Ticks end = pass(s, now, {op, visit}, ticks_[x].backward);
    chunks_[x].backward_ends[visit.micro_batch] = end;
    if (x + 1 < std::ssize(chunks_)) events_.push({end, (x + 1) % stages_});
    if (x > 0) chunks_[x - 1].gradients[visit.micro_batch] = send(x - 1, x - 1, end, chunks_[x].gradient_wire_free);
  }

  void weight(std::int64_t s, Ticks now) {
    const Visit& visit = rule_.backward[progress_[s].weight++];
    pass(s, now, {Op::kBackwardWeight, visit}, ticks_[index_of(s, visit)].weight);
  }

  Ticks pass(std::int64_t s, Ticks now, const Pass& pass, Ticks ticks) {
    orders_[s].push_back(pass);
    progress_[s].free_at = now + ticks;
    events_.push({now + ticks, s});
    return now + ticks;
  }

  /// Sends a message across the boundary after chunk `boundary`. Returns when it arrives at chunk `receiver`.
  Ticks send(std::int64_t boundary, std::int64_t receiver, Ticks now, Ticks& wire_free) {
    wire_free = std::max(now, wire_free) + ticks_[boundary].wire;
    const Ticks arrival = wire_free + ticks_[boundary].latency;
    events_.push({arrival, receiver % stages_});
    return arrival;
  }

  std::int64_t stages_, micro_batches_;
  const OrderRule& rule_;
  std::vector<ChunkTicks> ticks_;  ///< by virtual stage
  std::vector<Progress> progress_;
  Orders orders_;
  std::vector<Chunk> chunks_;  ///< by virtual stage
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

Orders list_schedule(const PipelineSpec& spec, const OrderRule& rule) {
  return ListScheduler(spec, rule).run();
}

}  // namespace convoy::schedule
