/// A few steps of a run as all ranks saw them: recorded, gathered, and written as trace.json and trace.svg.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "convoy/comm/root_clock.h"
#include "convoy/schedule/timeline.h"

#include "step/rank_runtime.h"
#include "step/step_recorder.h"

namespace convoy {

/// Steps, counted from the first that this process makes.
struct TraceWindow {
  std::int64_t first = 0, num = 0;

  std::int64_t end() const { return first + num; }
};

/// The first `wanted` steps after the warm-up: caches and GPU graphs are made in the first steps. Where a run has few
/// steps its last ones, but never the first.
TraceWindow trace_window(std::int64_t wanted, std::int64_t steps_left);

/// All ranks of the grid call everything. The runtime outlives it.
class StepTrace {
 public:
  StepTrace(RankRuntime& runtime, const TraceWindow& window);
  ~StepTrace();
  StepTrace(const StepTrace&) = delete;
  StepTrace& operator=(const StepTrace&) = delete;

  /// Before step number `step` of the run (counted from 1), and after it.
  void begin_step(std::int64_t step);
  void end_step() { ++num_made_; }
  bool is_complete() const { return num_made_ >= window_.end(); }

  /// Ends the recording and brings it to rank 0: all its steps, on rank 0's clock. Elsewhere, and where no step was
  /// recorded, nothing.
  std::optional<Timeline> end();
  /// end(), and rank 0 writes both files. Returns a line about it, there alone. A disk that does not take them is
  /// warned of.
  std::string write(const std::string& directory);

 private:
  void stop();
  Timeline gather(const RootClock& clock);

  RankRuntime& runtime_;
  TraceWindow window_;
  std::int64_t num_made_ = 0, first_step_ = 0;
  ClockReading clock_before_;
  double clock_error_seconds_ = 0;  ///< of any rank, once the recording has ended
  std::unique_ptr<StepRecorder> recorder_;
};

/// What all ranks did with their time, in steps of the plan.
TimeShares shares_of(const StepPlan& plan, const Timeline& measured);

/// The step that predict_step() foretells, on all ranks of the plan's grid: an SVG.
std::string draw_plan(const StepPlan& plan);

}  // namespace convoy
