/// Describes a bad step for people: the loss or the gradient, the samples, and the origin of the error.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "convoy/io/training_state.h"
#include "convoy/model/network.h"

#include "step/bad_numbers.h"

namespace convoy {

struct BadStepContext {
  std::int64_t step = 0;  ///< counted from 1
  const Network& network;
  std::int64_t num_micro_batches = 0;  ///< micro-batches per step
  double loss_limit = 0;               ///< train.loss_limit
  double lr = 0;                       ///< the learning rate of the step
  /// Returns the names of the samples of a micro-batch of this step, in order.
  std::function<std::vector<std::string>(std::int64_t micro_batch)> names;
};

/// Returns sentences: what happened, the likely cause, and the place at which it began. Samples are named if an input
/// is bad, or if only some of several micro-batches are. `found` comes from find_bad_numbers(). The text is the same on
/// every grid.
std::string describe_bad_step(const BadStepContext& context, const std::vector<BadNumbers>& found);

/// Returns a line about bad steps for the end of a run; empty if no step was bad.
std::string describe_bad_steps(const io::TrainingState& state);

}  // namespace convoy
