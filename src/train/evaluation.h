/// Scores a data set with the parameters as they are.
#pragma once

#include <functional>
#include <optional>

#include "convoy/io/dataset.h"
#include "convoy/params/parameters.h"

#include "train/engine.h"
#include "train/metrics.h"

namespace convoy {

/// All ranks; the result is rank 0's. Samples in order, no augmentation; the last micro-batches are filled up with
/// samples that count for nothing. `normalisation`: the training set's mean and deviation (its info), as the network
/// knows them.
/// Between steps it asks `stop` (all ranks agree); where that says so it ends early and returns nothing.
std::optional<StepMetrics> evaluate_dataset(Engine& engine, const io::Dataset& dataset,
                                            const io::DatasetInfo& normalisation, const Parameters& params,
                                            const std::function<bool()>& stop);

}  // namespace convoy
