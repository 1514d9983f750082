/// Decides when a run evaluates, saves and ends, from its parameters and its state.
#pragma once

#include <cstdint>

#include "convoy/io/training_state.h"

#include "run/run_data.h"

namespace convoy {

struct Parameters;

class RunCalendar {
 public:
  RunCalendar(const Parameters& params, const StepCount& steps) : params_(params), steps_(steps) {}

  /// Whether the run ends: after the last step, or if the best value has not improved for too long.
  bool is_over(const io::TrainingState& state) const { return state.step >= steps_.total || lost_patience(state); }
  /// Whether train.patience_epochs have passed without a new best value.
  bool lost_patience(const io::TrainingState& state) const;
  /// Whether a row of log.csv is due: at the end of an epoch, and at the end of the run.
  bool row_is_due(const io::TrainingState& state) const;
  /// Whether the row of this step has an evaluation. Only for steps at which a row is due.
  bool evaluation_is_due(std::int64_t step) const;
  bool checkpoint_is_due(std::int64_t step) const;
  bool fingerprint_is_due(std::int64_t step) const;

 private:
  const Parameters& params_;
  StepCount steps_;
};

}  // namespace convoy
