/// Traces a few training steps on all ranks, gathers them on rank 0, and writes them as trace.json and trace.svg.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "convoy/comm/root_clock.h"
#include "convoy/schedule/timeline.h"

#include "step/instruction_timer.h"
#include "step/training_step.h"

namespace convoy {

/// The steps [first, first + num), counted from 0 at the first step that this process makes.
struct TraceWindow {
  std::int64_t first = 0, num = 0;

  std::int64_t end() const { return first + num; }
};

/// Returns the steps to trace: `wanted` steps after the warm-up, in which caches are filled and GPU graphs are made.
/// If the run has only `steps_left` steps and that is too few, returns its last ones, but never the first.
TraceWindow trace_window(std::int64_t wanted, std::int64_t steps_left);

/// Measures the steps of a TraceWindow. All ranks of the grid call every member.
class StepStudy : public StepObserver {
 public:
  /// `training` must outlive this object.
  StepStudy(TrainingStep& training, const TraceWindow& window)
      : training_(training), runtime_(training.runtime()), window_(window) {}
  ~StepStudy() override { stop(); }
  StepStudy(const StepStudy&) = delete;
  StepStudy& operator=(const StepStudy&) = delete;

  void end_step(const StepResult& /*result*/) override { ++num_made_; }
  /// Whether all steps of the window are measured.
  bool is_complete() const { return num_made_ >= window_.end(); }
  /// Ends the measurement. Rank 0 writes its files to `directory` and returns lines about them; other ranks return "".
  /// If a file cannot be written, prints a warning.
  virtual std::string write(const std::string& directory) = 0;

 protected:
  /// Records the instructions of step number `step`, and of those after it.
  void start(std::int64_t step);
  void stop();

  TrainingStep& training_;
  RankRuntime& runtime_;
  TraceWindow window_;
  std::int64_t num_made_ = 0, first_step_ = 0;
  std::unique_ptr<InstructionTimer> timer_;  ///< null before start()
};

/// Records when each instruction runs.
class StepTrace final : public StepStudy {
 public:
  using StepStudy::StepStudy;

  void begin_step(std::int64_t step) override;
  /// Ends the trace. Rank 0 returns all traced steps of all ranks, in seconds of its own clock. Returns nothing
  /// on other ranks, or if no step was traced.
  std::optional<Timeline> end();
  std::string write(const std::string& directory) override;

 private:
  Timeline gather(const RootClock& clock);

  ClockReading clock_before_;
  /// Largest error between the clocks of two ranks, set when the trace has ended.
  double clock_error_seconds_ = 0;
};

/// Returns the shares of working time and of each cause of idle time over all ranks, in measured steps of the plan.
TimeShares shares_of(const StepPlan& plan, const Timeline& measured);

/// Returns an SVG picture of the step that the simulator predicts for the plan, on all ranks of its grid.
std::string draw_plan(const StepPlan& plan);

}  // namespace convoy
