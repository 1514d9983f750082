/// Scores a data set with the parameters as they are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "convoy/io/dataset.h"
#include "convoy/params/parameters.h"

#include "train/engine.h"
#include "train/metrics.h"

namespace convoy {

/// Rank 0 is given the logits (count, classes) of so many samples from `first_sample` on: all samples once, in order.
using LogitsObserver = std::function<void(std::int64_t first_sample, std::span<const float> logits)>;

/// All ranks; the result is rank 0's. Samples in order, only brought to the network's size; the last micro-batches are
/// filled up with samples that count for nothing. `normalisation`: the training set's mean, deviation and classes (its
/// info), as the network knows them; labels of other classes count for nothing.
/// Between steps it asks `stop` (all ranks agree); where that says so it ends early and returns nothing. On all ranks
/// or on none there is an observer, which only rank 0 calls.
std::optional<StepMetrics> evaluate_dataset(Engine& engine, const io::Dataset& dataset,
                                            const io::DatasetInfo& normalisation, const Parameters& params,
                                            const std::function<bool()>& stop, const LogitsObserver& observe = {});

}  // namespace convoy
