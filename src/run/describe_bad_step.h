/// Describes a bad training step for people: the loss or the gradient, the samples, and where the error began.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "convoy/io/training_state.h"
#include "convoy/model/network.h"

#include "step/bad_numbers.h"

namespace convoy {

/// The step that describe_bad_step() describes.
struct BadStepContext {
  std::int64_t step = 0;  ///< number of the step, counted from 1
  const Network& network;
  std::int64_t num_micro_batches = 0;  ///< number of micro-batches of the step, over all replicas
  double loss_limit = 0;               ///< train.loss_limit
  double lr = 0;                       ///< learning rate of the step
  /// Returns the names of the samples of a micro-batch of the step, in order.
  std::function<std::vector<std::string>(std::int64_t micro_batch)> names;
};

/// Returns sentences: what happened, the likely cause, and the tensor with which it began. Samples are named if an
/// input is bad, or if only some of the micro-batches are. `found` is the result of find_bad_numbers(). The text is the
/// same on every grid.
std::string describe_bad_step(const BadStepContext& context, const std::vector<BadNumbers>& found);

/// Returns a line that counts the bad steps of a run, for its end; empty if there were none.
std::string describe_bad_steps(const io::TrainingState& state);

}  // namespace convoy
