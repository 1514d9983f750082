/// Durations of training steps, for the progress line and for the comparison with the predicted duration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "step/step_observer.h"

namespace convoy {

/// Keeps the durations of the latest steps. The first steps of a run (warm-up) do not count.
class StepClock final : public StepObserver {
 public:
  /// Keeps at most `max` durations; their memory is allocated here.
  explicit StepClock(std::int64_t max = 1024);

  /// Adds the duration of the next step, in seconds.
  void add(double seconds);
  void end_step(const StepResult& step) override { add(step.seconds); }
  /// Number of durations that are kept.
  std::int64_t num_steps() const { return static_cast<std::int64_t>(seconds_.size()); }
  /// Median of the durations that are kept, in seconds; of an even number, the lower one of the two in the middle. 0 if
  /// none is kept.
  double median_seconds() const;
  /// Mean duration of the latest kRecentSteps steps after the warm-up, or of all of them if they are fewer, in seconds;
  /// 0 if there are none.
  double recent_seconds() const;

 private:
  static constexpr std::size_t kRecentSteps = 64;

  std::size_t max_;
  std::int64_t num_added_ = 0;
  std::vector<double> seconds_;
};

/// Returns "step: predicted 12.3 ms, measured 13 ms (median of 40): ratio 0.95", and why if they are far
/// apart; empty if no step was measured. `num_ranks`: on how many ranks the step ran.
std::string compare_step(double predicted_seconds, const StepClock& clock, std::int64_t num_ranks);

}  // namespace convoy
