/// Where the time of a few steps of a run went on all ranks, layer by layer: measured, gathered, and written as
/// profile.csv.
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

/// All ranks of the grid call everything. The runtime outlives it.
class StepProfile {
 public:
  StepProfile(RankRuntime& runtime, const TraceWindow& window);
  ~StepProfile();
  StepProfile(const StepProfile&) = delete;
  StepProfile& operator=(const StepProfile&) = delete;

  /// Before step number `step` of the run (counted from 1), and after it.
  void begin_step(std::int64_t step);
  void end_step(double seconds);
  bool is_complete() const { return num_made_ >= window_.end(); }

  /// Ends the measurement and brings it to rank 0. Elsewhere, and where no step was measured, nothing.
  std::optional<Profile> end();
  /// end(), and rank 0 writes the file. Returns lines about it, there alone. A disk that does not take it is warned of.
  std::string write(const std::string& directory);

 private:
  std::vector<ProfileRow> gather_rows();
  double slowest_product() const;

  RankRuntime& runtime_;
  TraceWindow window_;
  std::int64_t num_made_ = 0, first_step_ = 0, num_steps_ = 0;
  double seconds_ = 0;  ///< of these steps
  LayerRecorder layers_;
  std::unique_ptr<StepRecorder> instructions_;  ///< from the first of these steps on
};

}  // namespace convoy
