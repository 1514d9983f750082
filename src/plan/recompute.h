/// Chooses the cells whose activations the backward computes again instead of keeping them, so that a stage fits its
/// memory. Chen et al. 2016, "Training deep nets with sublinear memory cost", with cells as the segments.
#pragma once

#include <vector>

#include "plan/stage_plan.h"

namespace convoy {

struct MemoryParams;

/// Returns whether memory.limit_gib allows that many bytes; without a limit it always does.
bool fits_limit(std::int64_t bytes, const MemoryParams& memory);

/// Returns which cells of the network memory.recompute selects, for StagePlanSpec::recomputed. kAuto selects the cells
/// of `stage` that save the most bytes per second of recomputing, until the plan fits memory.limit_gib; then it removes
/// cells without which the plan still fits. Throws RequestError if the plan does not fit.
std::vector<bool> choose_recomputed(const Network& network, const StagePlanSpec& stage, const StageUse& use,
                                    const MemoryParams& memory);

}  // namespace convoy
