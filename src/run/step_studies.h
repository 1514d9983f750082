/// Measures a few of a run's own steps if run.trace or run.profile ask for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/step_profile.h"
#include "step/step_trace.h"

namespace convoy {

struct RunParams;

/// All ranks call every member. The runtime and the parameters outlive the object.
class StepStudies {
 public:
  StepStudies(const RunParams& run, RankRuntime& runtime) : run_(run), runtime_(runtime) {}

  /// Prepares the studies of a run that has `steps_left` more steps to make.
  void plan(std::int64_t steps_left);
  /// begin_step() is called before step number `step` of the run (counted from 1), end_step() after it.
  void begin_step(std::int64_t step);
  void end_step(double seconds);

  /// Writes the studies that are complete. Rank 0 gets the lines to print; empty: nothing was written.
  std::vector<std::string> write_complete();
  /// Writes all studies that have begun, as no more steps follow. Rank 0 gets the lines to print.
  std::vector<std::string> write_all();

 private:
  const RunParams& run_;
  RankRuntime& runtime_;
  std::optional<StepTrace> trace_;      ///< set until it is written
  std::optional<StepProfile> profile_;  ///< set until it is written
};

}  // namespace convoy
