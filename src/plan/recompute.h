/// Chooses the cells whose activations backward computes again instead of keeping them, so that a stage fits its
/// memory. Chen et al. 2016, "Training deep nets with sublinear memory cost", with cells as the segments.
#pragma once

#include <vector>

#include "convoy/params/parameters.h"

#include "plan/stage_plan.h"

namespace convoy {

/// Whether memory.limit_gib allows so many bytes; without a limit all.
bool fits_limit(std::int64_t bytes, const MemoryParams& memory);

/// What memory.recompute asks for, as StagePlanSpec::recomputed wants it. kAuto takes the cells of `stage` that save
/// most bytes for a second of computing them again, until the plan fits memory.limit_gib, and then gives back those
/// that it fits without. Throws RequestError where the plan does not fit.
std::vector<bool> choose_recomputed(const Network& network, const StagePlanSpec& stage, const StageUse& use,
                                    const MemoryParams& memory);

}  // namespace convoy
