/// What a run measures of a few of its own steps where it is asked to: run.trace and run.profile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/step_profile.h"
#include "step/step_trace.h"

namespace convoy {

/// All ranks call everything. The runtime and the parameters outlive it.
class StepStudies {
 public:
  StepStudies(const RunParams& run, RankRuntime& runtime) : run_(run), runtime_(runtime) {}

  /// Of a run that has so many steps to make.
  void plan(std::int64_t steps_left);
  /// Before step number `step` of the run (counted from 1), and after it.
  void begin_step(std::int64_t step);
  void end_step(double seconds);

  /// Writes what is complete. Rank 0 gets what is to be said of it; empty: nothing was written.
  std::vector<std::string> write_complete();
  /// Likewise of all that was begun: no more steps come.
  std::vector<std::string> write_all();

 private:
  const RunParams& run_;
  RankRuntime& runtime_;
  std::optional<StepTrace> trace_;      ///< until it is written
  std::optional<StepProfile> profile_;  ///< likewise
};

}  // namespace convoy
