/// GPipe: all micro-batches forward, then all backward. Huang et al. 2019.
///
/// 3 stages, 4 micro-batches     F forward, B backward, . idle
///   stage 0  F0 F1 F2 F3 .  .  .  .  B0 B1 B2 B3
///   stage 1  .  F0 F1 F2 F3 .  .  B0 B1 B2 B3 .
///   stage 2  .  .  F0 F1 F2 F3 B0 B1 B2 B3 .  .
///
/// In flight: all m micro-batches. Bubble, with p stages of equal cost: (p - 1) / (m + p - 1).
/// Backward runs in ascending order too (in the paper it descends), because the gradient tree needs that order.
#include "schedule/stage_builder.h"

namespace convoy {

Schedule make_gpipe(const PipelineSpec& spec) {
  return schedule::build(spec, [](schedule::StageBuilder& stage) {
    for (std::int64_t m = 0; m < stage.micro_batches(); ++m) stage.forward(m);
    for (std::int64_t m = 0; m < stage.micro_batches(); ++m) stage.backward(m);
  });
}

std::int64_t gpipe_in_flight(const PipelineSpec& spec, std::int64_t /*stage*/) {
  return spec.micro_batches;
}

}  // namespace convoy
