/// What people are told of a bad step: the loss or the gradient, the samples, and where it went wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "convoy/io/checkpoint.h"
#include "convoy/model/network.h"

#include "step/bad_numbers.h"

namespace convoy {

struct BadStepContext {
  std::int64_t step = 0;  ///< counted from 1
  const Network& network;
  std::int64_t num_micro_batches = 0;  ///< of a step
  double loss_limit = 0;               ///< train.loss_limit
  double lr = 0;                       ///< the learning rate of the step
  /// Of the samples of a micro-batch of this step, in order.
  std::function<std::vector<std::string>(std::int64_t micro_batch)> names;
};

/// Sentences: what happened, the likely cause, where it began. Samples are named if an input is bad, or if only some of
/// several micro-batches are. `found` as find_bad_numbers() gives it; the same text on every grid.
std::string describe_bad_step(const BadStepContext& context, const std::vector<BadNumbers>& found);

/// A line at the end of a run; empty where no step was bad.
std::string describe_bad_steps(const io::TrainingState& state);

}  // namespace convoy
