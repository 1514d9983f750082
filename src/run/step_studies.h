/// Measures a few training steps of a run, if run.trace or run.profile ask for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "run/run_record.h"
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
  void end_step(const StepResult& result) override;
  void finish() override;

 private:
  void write(StepStudy& study) const;

  const RunParams& run_;
  TrainingStep& training_;
  std::optional<RunRecord>& record_;
  std::vector<std::unique_ptr<StepStudy>> studies_;  ///< those that are not written yet
};

}  // namespace convoy
