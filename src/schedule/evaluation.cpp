/// The schedule of evaluation and prediction: forward passes only.
///
/// 3 stages, 4 micro-batches     F forward, . idle
///   stage 0  F0 F1 F2 F3 .  .
///   stage 1  .  F0 F1 F2 F3 .
///   stage 2  .  .  F0 F1 F2 F3
///
/// In flight: 1 per chunk, until its activation is handed over or its loss is known. With several chunks per stage,
/// groups of p micro-batches go through all chunks: the first micro-batch is back at a stage when the last has left it.
#include <algorithm>

#include "schedule/stage_builder.h"

namespace convoy {

Schedule make_evaluation(const PipelineSpec& spec) {
  return schedule::build(spec, [&spec](schedule::StageBuilder& stage) {
    const std::int64_t num = stage.micro_batches(), group = spec.stages;
    for (std::int64_t begin = 0; begin < num; begin += group)
      for (std::int64_t chunk = 0; chunk < spec.chunks; ++chunk)
        for (std::int64_t m = begin; m < std::min(begin + group, num); ++m) stage.forward(m, chunk);
  });
}

}  // namespace convoy
