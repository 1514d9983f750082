/// Forward only: what evaluation and prediction run.
///
/// 3 stages, 4 micro-batches     F forward, . idle
///   stage 0  F0 F1 F2 F3 .  .
///   stage 1  .  F0 F1 F2 F3 .
///   stage 2  .  .  F0 F1 F2 F3
///
/// In flight: 1, until its activation is handed over or its loss is known.
#include "schedule/stage_builder.h"

namespace convoy {

Schedule make_evaluation(const PipelineSpec& spec) {
  return schedule::build(spec, [](schedule::StageBuilder& stage) {
    for (std::int64_t m = 0; m < stage.micro_batches(); ++m) stage.forward(m);
  });
}

}  // namespace convoy
