/// Records a few training steps on all ranks, gathers them on rank 0, and writes them as trace.json and trace.svg.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "convoy/comm/root_clock.h"
#include "convoy/schedule/timeline.h"

#include "step/step_recorder.h"
#include "step/training_step.h"

namespace convoy {

/// The steps [first, first + num), counted from 0 at the first step that this process makes.
struct TraceWindow {
  std::int64_t first = 0, num = 0;

  std::int64_t end() const { return first + num; }
};

/// Returns the steps to record: `wanted` steps after the warm-up, in which caches are filled and GPU graphs are made.
/// If the run has only `steps_left` steps and that is too few, returns its last ones, but never the first.
TraceWindow trace_window(std::int64_t wanted, std::int64_t steps_left);

/// Records the steps of a TraceWindow. All ranks of the grid call every member. `training` must outlive this object.
class StepTrace {
 public:
  StepTrace(TrainingStep& training, const TraceWindow& window);
  ~StepTrace();
  StepTrace(const StepTrace&) = delete;
  StepTrace& operator=(const StepTrace&) = delete;

  /// Called before training step number `step` of the run, counted from 1.
  void begin_step(std::int64_t step);
  /// Called after each training step.
  void end_step() { ++num_made_; }
  /// Whether all steps of the window are recorded.
  bool is_complete() const { return num_made_ >= window_.end(); }

  /// Ends the recording. Rank 0 returns all recorded steps of all ranks, in seconds of its own clock. Returns nothing
  /// on other ranks, or if no step was recorded.
  std::optional<Timeline> end();
  /// Calls end(). Rank 0 then writes both files to `directory` and returns a line about them; other ranks return "". If
  /// the files cannot be written, prints a warning.
  std::string write(const std::string& directory);

 private:
  void stop();
  Timeline gather(const RootClock& clock);

  TrainingStep& training_;
  RankRuntime& runtime_;
  TraceWindow window_;
  std::int64_t num_made_ = 0, first_step_ = 0;
  ClockReading clock_before_;
  /// Largest error between the clocks of two ranks, set when the recording has ended.
  double clock_error_seconds_ = 0;
  std::unique_ptr<StepRecorder> recorder_;
};

/// Returns the shares of working time and of each cause of idle time over all ranks, in measured steps of the plan.
TimeShares shares_of(const StepPlan& plan, const Timeline& measured);

/// Returns an SVG picture of the step that the simulator predicts for the plan, on all ranks of its grid.
std::string draw_plan(const StepPlan& plan);

}  // namespace convoy
