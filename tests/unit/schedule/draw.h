/// A schedule as the picture in its comment, for tests and for the eye.
#pragma once

#include <string>

#include "convoy/schedule/simulator.h"

namespace convoy::testing {

/// A line a stage, a column a unit of time: forward and backward take one each, transfers none.
///   "F0 F1 .  B0 .  B1"
std::string draw(const Schedule& schedule);

/// A pipeline whose stages have `num_buckets` each.
PipelineSpec pipeline(std::int64_t stages, std::int64_t micro_batches, std::int64_t num_buckets = 1);

/// The same cost in every stage.
std::vector<StageCost> equal_costs(const Schedule& schedule, const StageCost& cost);

}  // namespace convoy::testing
