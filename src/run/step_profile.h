/// Measures how all ranks spend the time of a few steps, layer by layer; gathers it, and writes it as profile.csv.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/profile.h"
#include "step/layer_recorder.h"
#include "step/rank_runtime.h"
#include "step/step_recorder.h"
#include "step/step_trace.h"

namespace convoy {

/// All ranks of the grid call every member. The runtime outlives the object.
class StepProfile {
 public:
  StepProfile(RankRuntime& runtime, const TraceWindow& window);
  ~StepProfile();
  StepProfile(const StepProfile&) = delete;
  StepProfile& operator=(const StepProfile&) = delete;

  /// begin_step() is called before step number `step` of the run (counted from 1), end_step() after it.
  void begin_step(std::int64_t step);
  void end_step(double seconds);
  bool is_complete() const { return num_made_ >= window_.end(); }

  /// Ends the measurement and gathers it on rank 0. Returns nothing on other ranks, and if no step was measured.
  std::optional<Profile> end();
  /// Calls end(), and rank 0 writes the file and returns lines about it; other ranks return an empty text. Warns if the
  /// file cannot be written.
  std::string write(const std::string& directory);

 private:
  std::vector<ProfileRow> gather_rows();
  double slowest_product() const;

  RankRuntime& runtime_;
  TraceWindow window_;
  std::int64_t num_made_ = 0, first_step_ = 0, num_steps_ = 0;
  double seconds_ = 0;  ///< sum over these steps
  LayerRecorder layers_;
  std::unique_ptr<StepRecorder> instructions_;  ///< set from the first of these steps on
};

}  // namespace convoy
