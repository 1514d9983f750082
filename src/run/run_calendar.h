/// When a run evaluates, saves and ends: functions of its parameters and of where it is.
#pragma once

#include <cstdint>

#include "convoy/io/checkpoint.h"
#include "convoy/params/parameters.h"

#include "run/run_data.h"

namespace convoy {

class RunCalendar {
 public:
  RunCalendar(const Parameters& params, const StepCount& steps) : params_(params), steps_(steps) {}

  /// After the last step, or without a better value for too long.
  bool is_over(const io::TrainingState& state) const { return state.step >= steps_.total || lost_patience(state); }
  /// Whether the latest measurement was not the best one for too long.
  bool lost_patience(const io::TrainingState& state) const;
  /// A row of log.csv: at an epoch's end, and at the run's.
  bool row_is_due(const io::TrainingState& state) const;
  /// Where a row is due: whether it has a measurement.
  bool evaluation_is_due(std::int64_t step) const;
  bool checkpoint_is_due(std::int64_t step) const;
  bool fingerprint_is_due(std::int64_t step) const;

 private:
  const Parameters& params_;
  StepCount steps_;
};

}  // namespace convoy
