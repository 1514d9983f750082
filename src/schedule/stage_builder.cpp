/// The instructions of a micro-batch's pass through a chunk, which are the same in all schedules; orders by rule; and
/// the choice among orders by simulated time.
#include "schedule/stage_builder.h"

#include <utility>

#include "convoy/base/error.h"
#include "convoy/schedule/simulator.h"

namespace convoy::schedule {

void StageBuilder::forward(std::int64_t m, std::int64_t chunk) {
  if (spec_.loads_at(virtual_stage(chunk))) add(Op::kLoad, m, chunk);
  if (!is_first(chunk)) add(Op::kRecvActivation, m, chunk);
  add(Op::kForward, m, chunk);
  if (is_last(chunk)) {
    add(Op::kLoss, m, chunk);
  } else {
    add(Op::kSendActivation, m, chunk);
  }
}

void StageBuilder::backward(std::int64_t m, std::int64_t chunk) {
  if (!is_last(chunk)) add(Op::kRecvGradient, m, chunk);
  if (m == spec_.micro_batches - 1) {
    by_bucket(Op::kBackward, m, chunk);
  } else {
    add(Op::kBackward, m, chunk);
    if (!is_first(chunk)) add(Op::kSendGradient, m, chunk);
  }
}

void StageBuilder::backward_input(std::int64_t m, std::int64_t chunk) {
  if (!is_last(chunk)) add(Op::kRecvGradient, m, chunk);
  add(Op::kBackwardInput, m, chunk);
  if (!is_first(chunk)) add(Op::kSendGradient, m, chunk);
}

void StageBuilder::backward_weight(std::int64_t m, std::int64_t chunk) {
  if (m == spec_.micro_batches - 1) {
    by_bucket(Op::kBackwardWeight, m, chunk);
  } else {
    add(Op::kBackwardWeight, m, chunk);
  }
}

/// Writes the tail of a training step: the last micro-batch completes the gradients of a chunk, last bucket (nearest
/// the loss) first. A bucket's exchange runs during the backward of the next, so its fold and update come one bucket
/// later:
///
///   B2 Reduce2  B1 Reduce1 Fold2 Update2  B0 SendGradient Reduce0 Fold1 Update1  Fold0 Update0  Gather2 Gather1
///   Gather0
///
/// If ranks agree on the update first, updates wait for the last fold:
///
///   B2 Reduce2  B1 Reduce1 Fold2  B0 SendGradient Reduce0 Fold1  Fold0  Agree  Update2 Update1 Update0  Gather2 ...
///
/// The gradient leaves before any instruction that waits, because the previous stage has nothing else to do. The fold
/// of a chunk's first bucket comes after the last bucket of the next chunk to finish: the work between them runs during
/// its exchange.
void StageBuilder::by_bucket(Op op, std::int64_t m, std::int64_t chunk) {
  for (std::int64_t b = num_buckets(chunk) - 1; b >= 0; --b) {
    add(op, m, chunk, b);
    if (op == Op::kBackward && b == 0 && !is_first(chunk)) add(Op::kSendGradient, m, chunk);
    add(Op::kReduceBucket, -1, chunk, b);
    if (!reduced_.empty()) complete(reduced_.back());
    reduced_.push_back({.op = Op::kReduceBucket, .bucket = b, .chunk = chunk});
  }
}

void StageBuilder::complete(const Instruction& reduce) {
  add_for(Op::kFoldBucket, reduce);
  if (!spec_.agree_on_update) add_for(Op::kUpdateBucket, reduce);
}

StageProgram StageBuilder::finish() {
  if (reduced_.empty()) return std::move(program_);  // an evaluation
  complete(reduced_.back());
  if (spec_.agree_on_update) {
    program_.push_back({.op = Op::kAgreeOnUpdate});
    for (const Instruction& reduce : reduced_) add_for(Op::kUpdateBucket, reduce);
  }
  for (const Instruction& reduce : reduced_) add_for(Op::kGatherBucket, reduce);
  return std::move(program_);
}

void check(const PipelineSpec& spec) {
  if (spec.stages < 1 || spec.micro_batches < 1 || spec.chunks < 1) {
    fail("A pipeline of {} stages with {} chunks and {} micro-batches cannot be scheduled: at least 1 of each.",
         spec.stages, spec.chunks, spec.micro_batches);
  }
  const std::int64_t num = spec.virtual_stages();
  if (std::ssize(spec.num_buckets) != num) {
    fail("A pipeline of {} virtual stages was given the bucket counts of {}.", num, spec.num_buckets.size());
  }
  for (std::size_t x = 0; x < spec.num_buckets.size(); ++x) {
    if (spec.num_buckets[x] < 1) fail("Virtual stage {} has {} gradient buckets: at least 1.", x, spec.num_buckets[x]);
  }
  if (!spec.loads.empty() && (std::ssize(spec.loads) != num || !spec.loads.front()))
    fail(
        "A pipeline of {} virtual stages has load flags for {}: one for each is needed, and the first stage must load.",
        num, spec.loads.size());
  if (!spec.costs.chunks.empty() && std::ssize(spec.costs.chunks) != num) {
    fail("A pipeline of {} virtual stages was given the costs of {}.", num, spec.costs.chunks.size());
  }
}

Schedule build(const PipelineSpec& spec, const std::function<void(StageBuilder&)>& write) {
  check(spec);
  Schedule schedule;
  for (std::int64_t stage = 0; stage < spec.stages; ++stage) {
    StageBuilder builder(spec, stage);
    write(builder);
    schedule.push_back(builder.finish());
  }
  return schedule;
}

Orders orders_in_turns(const OrderRule& rule, const std::vector<std::int64_t>& lag) {
  const std::int64_t num = std::ssize(rule.forward);
  Orders orders(rule.max_ahead.size());
  for (std::size_t s = 0; s < orders.size(); ++s) {
    std::vector<Pass>& order = orders[s];
    std::int64_t forward = 0, backward = 0, weight = 0;
    while (backward < num) {
      if (forward < num && forward - backward < rule.max_ahead[s]) {
        order.push_back({Op::kForward, rule.forward[forward++]});
      } else if (rule.splits_backward) {
        order.push_back({Op::kBackwardInput, rule.backward[backward++]});
        if (backward - weight > lag[s]) order.push_back({Op::kBackwardWeight, rule.backward[weight++]});
      } else {
        order.push_back({Op::kBackward, rule.backward[backward++]});
      }
    }
    while (rule.splits_backward && weight < num) order.push_back({Op::kBackwardWeight, rule.backward[weight++]});
  }
  return orders;
}

PipelineCosts costs_or_equal(const PipelineSpec& spec) {
  if (!spec.costs.chunks.empty()) return spec.costs;
  return {
      .chunks = std::vector<ChunkCost>(
          spec.virtual_stages(), {.forward_seconds = 1, .backward_input_seconds = 1, .backward_weight_seconds = 1})};
}

Schedule build(const PipelineSpec& spec, const Orders& orders) {
  return build(spec, [&orders](StageBuilder& stage) {
    for (const auto& [op, visit] : orders[stage.stage()]) {
      if (op == Op::kForward) stage.forward(visit.micro_batch, visit.chunk);
      if (op == Op::kBackward) stage.backward(visit.micro_batch, visit.chunk);
      if (op == Op::kBackwardInput) stage.backward_input(visit.micro_batch, visit.chunk);
      if (op == Op::kBackwardWeight) stage.backward_weight(visit.micro_batch, visit.chunk);
    }
  });
}

Schedule build_fastest(const PipelineSpec& spec, const std::vector<Orders>& candidates) {
  const PipelineCosts costs = costs_or_equal(spec);
  Schedule fastest;
  double min_seconds = 0;
  for (const Orders& orders : candidates) {
    Schedule schedule = build(spec, orders);
    const double seconds = simulate(schedule, costs, {.zero_buffering = true, .keep_spans = false}).step_seconds;
    if (!fastest.empty() && seconds >= min_seconds) continue;
    fastest = std::move(schedule);
    min_seconds = seconds;
  }
  return fastest;
}

}  // namespace convoy::schedule
