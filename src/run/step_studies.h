/// Measures a few training steps of a run, if run.trace or run.profile ask for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/step_profile.h"
#include "step/step_trace.h"

namespace convoy {

struct RunParams;

/// The trace and the profile of a run. All ranks of the grid call every member. `run` and `training` must outlive this
/// object.
class StepStudies {
 public:
  StepStudies(const RunParams& run, TrainingStep& training) : run_(run), training_(training) {}

  /// Chooses the steps to measure in a run that has `steps_left` more steps to make.
  void plan(std::int64_t steps_left);
  /// Called before training step number `step` of the run, counted from 1.
  void begin_step(std::int64_t step);
  /// Called after each training step, which took `seconds`.
  void end_step(double seconds);

  /// Writes those of trace and profile that are complete. Returns lines to print on rank 0; empty if none was written.
  std::vector<std::string> write_complete();
  /// Writes trace and profile with the steps measured so far, because no more steps follow. Returns lines to print on
  /// rank 0.
  std::vector<std::string> write_all();

 private:
  const RunParams& run_;
  TrainingStep& training_;
  std::optional<StepTrace> trace_;      ///< from plan() until it is written
  std::optional<StepProfile> profile_;  ///< from plan() until it is written
};

}  // namespace convoy
