/// Which cells' activations backward computes again rather than have them kept, so that a stage fits its memory.
/// Chen et al. 2016, "Training deep nets with sublinear memory cost", with cells as the segments.
#pragma once

#include <vector>

#include "convoy/params/parameters.h"

#include "train/stage_plan.h"

namespace convoy {

/// What memory.recompute asks for, as StagePlanSpec::recomputed wants it. kAuto takes the cells of `stage` that save
/// most bytes for a second of computing them again, until the plan fits memory.limit_gib, and then gives back those
/// that it fits without. Throws RequestError where the plan does not fit.
std::vector<bool> choose_recomputed(const Network& network, const StagePlanSpec& stage, const StageUse& use,
                                    const MemoryParams& memory);

}  // namespace convoy
