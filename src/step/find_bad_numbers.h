/// Finds the tensors in which the numbers of a bad training step went wrong: repeats the forward of the step, and looks
/// at every tensor.
#pragma once

#include <vector>

#include "convoy/data/batch_source.h"

#include "step/bad_numbers.h"
#include "step/training_step.h"

namespace convoy {

/// All ranks of the grid call it after a training step with StepOutcome::kBad, before anything else changes the stage.
/// `source` gives the samples of that step; its begin_step() has not been called. Rank 0 returns, in the order of
/// sorted():
/// - the parameters and the parts of the summed gradient that have infinities or NaN,
/// - the micro-batches with a bad loss,
/// - for each micro-batch, the first cell that reads bad features, and the first whose output is bad.
/// The other ranks return an empty list. It takes about as long as the step's forward without overlap, and copies one
/// tensor at a time to host memory.
std::vector<BadNumbers> find_bad_numbers(TrainingStep& training, BatchSource& source);

}  // namespace convoy
