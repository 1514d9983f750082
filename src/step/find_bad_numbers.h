/// Finds where the numbers of a bad step went wrong: runs its forward once more, and looks at every tensor.
#pragma once

#include <vector>

#include "convoy/data/batch_source.h"

#include "step/bad_numbers.h"
#include "step/rank_runtime.h"

namespace convoy {

/// All ranks call it after a training step that was bad, before anything else changes the stage. `source` gives that
/// step's samples, and has begun no step yet. Rank 0 returns, as sorted() orders them, the parameters and the parts of
/// the summed gradient that hold bad numbers, the micro-batches with a bad loss and, of each micro-batch, the first
/// cell that reads bad features and the first whose output is bad. The other ranks return nothing. It takes about the
/// time of the step's forward without any overlap, and memory of the host.
std::vector<BadNumbers> find_bad_numbers(RankRuntime& runtime, BatchSource& source);

}  // namespace convoy
