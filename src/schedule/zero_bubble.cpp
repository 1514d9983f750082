/// ZB-H1: the weight gradient waits until the stage has time for it, which leaves a third of 1F1B's bubble. Qi et al.
/// 2023.
///
/// 4 stages, 8 micro-batches F forward, B data gradient, W weight gradient, . idle
///   stage 0  F0 F1 F2 F3 .  .  .  B0 W0 F4 B1 W1 F5 B2 W2 F6 B3 W3 F7 B4 W4 B5 W5 B6 W6 B7 W7
///   stage 1  .  F0 F1 F2 .  .  B0 F3 B1 W0 F4 B2 W1 F5 B3 W2 F6 B4 W3 F7 B5 W4 B6 W5 B7 W6 W7
///   stage 2  .  .  F0 F1 .  B0 F2 B1 F3 B2 W0 F4 B3 W1 F5 B4 W2 F6 B5 W3 F7 B6 W4 B7 W5 W6 W7
///   stage 3  .  .  .  F0 B0 F1 B1 F2 B2 F3 B3 W0 F4 B4 W1 F5 B5 W2 F6 B6 W3 F7 B7 W4 W5 W6 W7
///
/// Stage s of p makes p - s forward passes before it waits for its first gradient, as in 1F1B. It holds up to p
/// micro-batches until their weight gradients are done, as 1F1B's first stage does. So the last stages delay weight
/// gradients and send data gradients earlier.
///
/// Three orders are made, and the fastest one is taken:
///   by simulated time   weight gradients fill the gaps
///   the paper's         weight gradients follow s data gradients later; often the fastest if costs are almost equal
///   1F1B's              weight gradients follow at once; never slower than 1F1B, because each data gradient leaves
///                       earlier and nothing else changes
#include <algorithm>
#include <numeric>

#include "schedule/stage_builder.h"

namespace convoy {

namespace {

schedule::OrderRule rule_of(const PipelineSpec& spec) {
  schedule::OrderRule rule;
  for (std::int64_t m = 0; m < spec.micro_batches; ++m) rule.forward.push_back({.chunk = 0, .micro_batch = m});
  rule.backward = rule.forward;
  for (std::int64_t s = 0; s < spec.stages; ++s) rule.max_ahead.push_back(spec.stages - s);
  rule.splits_backward = true;
  rule.max_held = spec.stages;
  return rule;
}

}  // namespace

Schedule make_zero_bubble(const PipelineSpec& spec) {
  schedule::check(spec);
  const schedule::OrderRule rule = rule_of(spec);
  const std::vector<std::int64_t> at_once(spec.stages, 0);
  std::vector<std::int64_t> by_stage(spec.stages);
  std::iota(by_stage.begin(), by_stage.end(), 0);
  return schedule::build_fastest(spec, {schedule::list_schedule(spec, rule), schedule::orders_in_turns(rule, by_stage),
                                        schedule::orders_in_turns(rule, at_once)});
}

std::int64_t zero_bubble_in_flight(const PipelineSpec& spec, std::int64_t /*stage*/) {
  return std::min(spec.stages, spec.micro_batches);
}

}  // namespace convoy
