/// Naive model parallelism, with the least memory and the longest bubble: the yardstick for other schedules.
///
/// 3 stages, 2 micro-batches     F forward, B backward, . idle
///   stage 0  F0 .  .  .  .  B0 F1 .  .  .  .  B1
///   stage 1  .  F0 .  .  B0 .  .  F1 .  .  B1 .
///   stage 2  .  .  F0 B0 .  .  .  .  F1 B1 .  .
///
/// In flight: 1. Bubble, with p stages of equal cost: 1 - 1/p.
#include "schedule/stage_builder.h"

namespace convoy {

Schedule make_naive(const PipelineSpec& spec) {
  return schedule::build(spec, [](schedule::StageBuilder& stage) {
    for (std::int64_t m = 0; m < stage.micro_batches(); ++m) {
      stage.forward(m);
      stage.backward(m);  // stage 0 waits here until m has gone through all stages and back, so all others wait too
    }
  });
}

std::int64_t naive_in_flight(const PipelineSpec& /*spec*/, std::int64_t /*stage*/) {
  return 1;
}

}  // namespace convoy
