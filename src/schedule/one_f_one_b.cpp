/// One forward and one backward in turn: GPipe's bubble, with memory for only as many micro-batches as there are
/// stages. Narayanan et al. 2019.
///
/// 3 stages, 5 micro-batches     F forward, B backward, . idle
///   stage 0  F0 F1 F2 .  .  B0 F3 B1 F4 B2 .  B3 .  B4
///   stage 1  .  F0 F1 .  B0 F2 B1 F3 B2 F4 B3 .  B4 .
///   stage 2  .  .  F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 .  .
///
/// In flight: min(p - s, m) in stage s of p. Bubble, with stages of equal cost: (p - 1) / (m + p - 1), as in GPipe.
#include <algorithm>

#include "schedule/stage_builder.h"

namespace convoy {

Schedule make_1f1b(const PipelineSpec& spec) {
  return schedule::build(spec, [](schedule::StageBuilder& stage) {
    const std::int64_t num = stage.micro_batches();
    const std::int64_t warmup = std::min(stage.stages() - stage.stage() - 1, num);
    for (std::int64_t m = 0; m < warmup; ++m) stage.forward(m);
    for (std::int64_t m = warmup; m < num; ++m) {
      stage.forward(m);
      stage.backward(m - warmup);
    }
    for (std::int64_t m = num - warmup; m < num; ++m) stage.backward(m);
  });
}

std::int64_t in_flight_of_1f1b(const PipelineSpec& spec, std::int64_t stage) {
  return std::min(spec.stages - stage, spec.micro_batches);
}

}  // namespace convoy
