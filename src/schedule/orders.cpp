/// Makes orders by rule, and chooses among orders by simulated time.
#include "schedule/orders.h"

#include <utility>

#include "convoy/schedule/simulator.h"

#include "schedule/stage_builder.h"

namespace convoy::schedule {

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
