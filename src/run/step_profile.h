/// Measures how all ranks spend the time of a few training steps, layer by layer, gathers it on rank 0, and writes it
/// as profile.csv.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/profile.h"
#include "step/layer_recorder.h"
#include "step/step_recorder.h"
#include "step/step_trace.h"
#include "step/training_step.h"

namespace convoy {

/// The profile of the steps of a window. All ranks of the grid call every member. `training` must outlive this object.
class StepProfile {
 public:
  StepProfile(TrainingStep& training, const TraceWindow& window);
  ~StepProfile();
  StepProfile(const StepProfile&) = delete;
  StepProfile& operator=(const StepProfile&) = delete;

  /// Called before training step number `step` of the run, counted from 1.
  void begin_step(std::int64_t step);
  /// Called after each training step, which took `seconds`.
  void end_step(double seconds);
  /// Whether all steps of the window are measured.
  bool is_complete() const { return num_made_ >= window_.end(); }

  /// Ends the measurement. Rank 0 returns the profile of all ranks; other ranks return nothing, and all if no step was
  /// measured.
  std::optional<Profile> end();
  /// Calls end(). Rank 0 then writes the file to `directory` and returns lines about it; other ranks return "". If the
  /// file cannot be written, prints a warning.
  std::string write(const std::string& directory);

 private:
  std::vector<ProfileRow> gather_rows();
  double slowest_product() const;

  TrainingStep& training_;
  RankRuntime& runtime_;
  TraceWindow window_;
  std::int64_t num_made_ = 0, first_step_ = 0, num_steps_ = 0;
  double seconds_ = 0;  ///< duration of the measured steps together
  LayerRecorder layers_;
  std::unique_ptr<StepRecorder> instructions_;  ///< null before the first measured step
};

}  // namespace convoy
