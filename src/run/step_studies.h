/// Measures a few training steps of a run, if run.trace or run.profile ask for it.
#pragma once

#include <cstdint>
#include <optional>

#include "run/run_record.h"
#include "run/step_profile.h"
#include "step/step_trace.h"

namespace convoy {

struct RunParams;

/// The trace and the profile of a run. Each is written when its steps are measured, or by finish() with the steps so
/// far.
class StepStudies final : public StepObserver {
 public:
  /// All arguments must outlive this object. `record` is set on rank 0 from the first step on.
  StepStudies(const RunParams& run, TrainingStep& training, std::optional<RunRecord>& record)
      : run_(run), training_(training), record_(record) {}

  /// Chooses the steps to measure in a run that has `steps_left` more steps to make.
  void plan(std::int64_t steps_left);
  void begin_step(std::int64_t step) override;
  void end_step(const StepResult& step) override;
  void finish() override;

 private:
  template <typename Study>
  void write(std::optional<Study>& study);

  const RunParams& run_;
  TrainingStep& training_;
  std::optional<RunRecord>& record_;
  std::optional<StepTrace> trace_;      ///< from plan() until it is written
  std::optional<StepProfile> profile_;  ///< from plan() until it is written
};

}  // namespace convoy
