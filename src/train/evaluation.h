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
#include "train/model_card.h"

namespace convoy {

/// Rank 0 is given the logits (count, classes) of so many samples from `first_sample` on: all samples once, in order.
using LogitsObserver = std::function<void(std::int64_t first_sample, std::span<const float> logits)>;

struct EvaluationSpec {
  const io::Dataset& dataset;
  const io::ModelCard& card;  ///< of the engine's network; labels of other classes count for nothing
  const Parameters& params;
  std::function<bool()> stop = [] { return false; };  ///< asked between steps; all ranks give one answer
  LogitsObserver observe = {};                        ///< on all ranks or on none; only rank 0 calls it
};

/// All ranks; the result is rank 0's. Samples in order, only brought to the network's input; the last micro-batches are
/// filled up with samples that count for nothing. Nothing where `stop` said so.
std::optional<StepMetrics> evaluate_dataset(Engine& engine, const EvaluationSpec& spec);

}  // namespace convoy
