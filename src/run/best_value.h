/// Decides which measurement of a run is the best one, for the trainer and for the tables that are read later.
#pragma once

#include "convoy/base/metrics.h"
#include "convoy/io/training_state.h"

namespace convoy {

/// What decides about an epoch: the value of train.metric, and the loss on the same samples (NaN: not known).
struct MeasuredEpoch {
  double value = 0;
  double loss = 0;
};

/// Whether an epoch is better than another: by the metric or, if both have the same value, by the lower loss.
inline bool is_better(const Metric& metric, const MeasuredEpoch& epoch, const MeasuredEpoch& than) {
  return epoch.value == than.value ? epoch.loss < than.loss : metric.is_better(epoch.value, than.value);
}

/// Returns whether the epoch that ends at state.step is the best so far, and notes it in the state. A lower loss at the
/// same value makes the epoch the best one, but does not count as an improvement for train.patience_epochs.
inline bool note_if_best(const Metric& metric, const MeasuredEpoch& epoch, io::TrainingState& state) {
  const bool is_first = state.best_step == 0;
  if (!is_first && !is_better(metric, epoch, {.value = state.best_value, .loss = state.best_loss})) return false;
  if (is_first || epoch.value != state.best_value) state.improved_step = state.step;
  state.best_value = epoch.value;
  state.best_loss = epoch.loss;
  state.best_step = state.step;
  return true;
}

}  // namespace convoy
