/// Where the time of a few steps of a run went, layer by layer, on all ranks: measured, gathered, and written as
/// profile.csv.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "step/layer_recorder.h"
#include "step/rank_runtime.h"
#include "step/step_trace.h"

namespace convoy {

/// A layer's work in a step, in the mean of the steps and replicas.
struct ProfileRow {
  std::int64_t stage = 0;
  std::string cell;
  LayerInfo layer;
  LayerWork work = LayerWork::kForward;
  double calls = 0;    ///< of each rank of the stage
  double seconds = 0;  ///< of all of them
  double flop = 0;     ///< likewise
};

struct Profile {
  std::int64_t first_step = 0, num_steps = 0, num_stages = 1;
  double step_seconds = 0;           ///< mean
  double product_flop_a_second = 0;  ///< of a rank: measure_product_rate(); 0: not known
  std::vector<ProfileRow> rows;      ///< stage by stage, cell by cell, in the order of forward
};

/// The text of profile.csv.
std::string to_csv(const Profile& profile);

/// Lines for people: operations by the share of the ranks' time that they take, without a line's end after the last.
std::string summary_of(const Profile& profile);

/// All ranks of the grid call everything. The runtime outlives it.
class StepProfile {
 public:
  StepProfile(RankRuntime& runtime, const TraceWindow& window);
  ~StepProfile() { watch(nullptr); }
  StepProfile(const StepProfile&) = delete;
  StepProfile& operator=(const StepProfile&) = delete;

  /// Before step number `step` of the run (counted from 1), and after it.
  void begin_step(std::int64_t step);
  void end_step(double seconds);
  bool is_complete() const { return num_made_ >= window_.end(); }

  /// Ends the measurement; rank 0 writes the file. Returns lines about it, there alone. A disk that does not take it is
  /// warned of.
  std::string write(const std::string& directory);

 private:
  void watch(LayerWatch* watch) { runtime_.stage().watch_layers(watch); }
  std::vector<ProfileRow> gather_rows();
  double slowest_product() const;

  RankRuntime& runtime_;
  TraceWindow window_;
  std::int64_t num_made_ = 0, first_step_ = 0, num_steps_ = 0;
  double seconds_ = 0;  ///< of these steps
  LayerRecorder recorder_;
};

}  // namespace convoy
