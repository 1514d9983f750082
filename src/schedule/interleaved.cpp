/// Several chunks of cells per stage, so that the pipeline fills in a v-th of the time. Narayanan et al. 2021.
///
/// 3 stages with 2 chunks each, 6 micro-batches     F forward, B backward in chunk 0; f, b in chunk 1; . idle
///   stage 0  F0 F1 F2 f0 f1 f2 F3 F4 b0 F5 b1 .  f3 b2 f4 B0 f5 B1 B2 .  b3 .  b4 .  b5 B3 B4 B5
///   stage 1  .  F0 F1 F2 f0 f1 f2 b0 F3 b1 F4 b2 F5 B0 f3 B1 f4 B2 f5 b3 .  b4 .  b5 B3 B4 B5 .
///   stage 2  .  .  F0 F1 F2 f0 b0 f1 b1 f2 b2 F3 B0 F4 B1 F5 B2 f3 b3 f4 b4 f5 b5 B3 B4 B5 .  .
///
/// Forward passes go through the chunks in groups of micro-batches: the group goes through chunk 0, then through chunk
/// 1, and so on. Backward passes of a group go through the chunks from the last one to chunk 0. A group needs at least
/// p micro-batches, because the first of them is back at the stage after p passes. So m micro-batches make floor(m / p)
/// groups of sizes that are as equal as possible; the paper requires m to be a multiple of p. Between a chunk of the
/// last stage and the next chunk of the first stage, g - p gradients of a group of g wait for their turn. Four of them
/// have buffers, two at either end, and two of those are in use.
///
/// Stage s makes 2 (p - s - 1) + (v - 1) g + 1 forward passes before it waits for its first gradient, where g is the
/// size of the largest group: (v - 1) g for a micro-batch's way through the chunks, and 2 (p - s - 1) for the way to
/// the last stage and back.
///
/// Two orders are made, and the faster one is taken: that of the paper, strictly in turns; and one by simulated time,
/// in which a stage goes backward while its next activation is late.
#include <algorithm>

#include "schedule/stage_builder.h"

namespace convoy {

namespace {

std::int64_t num_groups(const PipelineSpec& spec) {
  return std::max<std::int64_t>(1, spec.micro_batches / spec.stages);
}

schedule::OrderRule rule_of(const PipelineSpec& spec) {
  const std::int64_t m = spec.micro_batches, v = spec.chunks, groups = num_groups(spec);
  schedule::OrderRule rule;
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::int64_t begin = group * m / groups, end = (group + 1) * m / groups;
    for (std::int64_t chunk = 0; chunk < v; ++chunk) {
      for (std::int64_t i = begin; i < end; ++i) {
        rule.forward.push_back({chunk, i});
        rule.backward.push_back({v - 1 - chunk, i});
      }
    }
  }
  for (std::int64_t s = 0; s < spec.stages; ++s) rule.max_ahead.push_back(interleaved_in_flight(spec, s));
  return rule;
}

}  // namespace

Schedule make_interleaved(const PipelineSpec& spec) {
  schedule::check(spec);
  const schedule::OrderRule rule = rule_of(spec);
  return schedule::build_fastest(spec, {schedule::orders_in_turns(rule, {}), schedule::list_schedule(spec, rule)});
}

std::int64_t interleaved_in_flight(const PipelineSpec& spec, std::int64_t stage) {
  const std::int64_t p = spec.stages, m = spec.micro_batches, v = spec.chunks;
  const std::int64_t largest = (m + num_groups(spec) - 1) / num_groups(spec);
  return std::min(2 * (p - stage - 1) + (v - 1) * largest + 1, v * m);
}

}  // namespace convoy
