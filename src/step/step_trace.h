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

/// Returns the first `wanted` steps after the warm-up, in which caches and GPU graphs are made. If a run has too few
/// steps, returns its last ones, but never the first.
TraceWindow trace_window(std::int64_t wanted, std::int64_t steps_left);

/// Records the steps of a window. All ranks of the grid call every member. The runtime must outlive it.
class StepTrace {
 public:
  StepTrace(RankRuntime& runtime, const TraceWindow& window);
  ~StepTrace();
  StepTrace(const StepTrace&) = delete;
  StepTrace& operator=(const StepTrace&) = delete;

  /// begin_step() is called before step number `step` of the run (counted from 1), end_step() after it.
  void begin_step(std::int64_t step);
  void end_step() { ++num_made_; }
  bool is_complete() const { return num_made_ >= window_.end(); }

  /// Ends the recording, and returns all its steps, on rank 0's clock, at rank 0. Returns nothing on other ranks, and
  /// if no step was recorded.
  std::optional<Timeline> end();
  /// Calls end(); rank 0 then writes both files, and returns a line about them. If the disk does not take them, it
  /// warns.
  std::string write(const std::string& directory);

 private:
  void stop();
  Timeline gather(const RootClock& clock);

  RankRuntime& runtime_;
  TraceWindow window_;
  std::int64_t num_made_ = 0, first_step_ = 0;
  ClockReading clock_before_;
  double clock_error_seconds_ = 0;  ///< the largest between two ranks, once the recording has ended
  std::unique_ptr<StepRecorder> recorder_;
};

/// The shares of what all ranks did with their time, in measured steps of the plan.
TimeShares shares_of(const StepPlan& plan, const Timeline& measured);

/// Draws the step that predict_step() predicts, on all ranks of the plan's grid, as an SVG.
std::string draw_plan(const StepPlan& plan);

}  // namespace convoy
