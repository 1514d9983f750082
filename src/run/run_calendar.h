/// Decides when a run evaluates, saves and ends.
#pragma once

#include <cstdint>

#include "convoy/io/training_state.h"

#include "run/run_data.h"

namespace convoy {

struct Parameters;

/// Answers what a run has to do after a step. The answers depend only on its parameters and its state.
class RunCalendar {
 public:
  RunCalendar(const Parameters& params, const StepCount& steps) : params_(params), steps_(steps) {}

  /// Whether the run ends: after its last step, or if the best value has not improved for too long
  /// (train.patience_epochs).
  bool is_over(const io::TrainingState& state) const { return state.step >= steps_.total || lost_patience(state); }
  /// Whether train.patience_epochs epochs have passed without a new best value.
  bool lost_patience(const io::TrainingState& state) const;
  /// Whether a row of log.csv must be written: at the end of each epoch, and at the end of the run.
  bool row_is_due(const io::TrainingState& state) const;
  /// Whether the row of log.csv after step number `step` needs an evaluation. Only for steps at which a row is due.
  bool evaluation_is_due(std::int64_t step) const;
  /// Whether a checkpoint must be saved after step number `step` (checkpoint.every_steps, checkpoint.every_epochs).
  bool checkpoint_is_due(std::int64_t step) const;
  /// Whether the weights' fingerprint is computed after step number `step` (run.fingerprint_every).
  bool fingerprint_is_due(std::int64_t step) const;

 private:
  const Parameters& params_;
  StepCount steps_;
};

}  // namespace convoy
