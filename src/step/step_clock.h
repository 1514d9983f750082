/// The times of steps, for the progress line and for the comparison with the prediction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace convoy {

class StepClock {
 public:
  /// Keeps the latest `max` steps after the warm-up; has room for them from the beginning.
  explicit StepClock(std::int64_t max = 1024);

  void add(double seconds);
  std::int64_t num_steps() const { return static_cast<std::int64_t>(seconds_.size()); }
  /// Median time of the steps that are kept, in seconds; of an even number the lower one in the middle. 0 if no step is
  /// kept.
  double median_seconds() const;
  /// Mean time of the latest kRecentSteps steps after the warm-up, or of all if they are fewer, in seconds; 0 if none
  /// is kept.
  double recent_seconds() const;

 private:
  static constexpr std::size_t kRecentSteps = 64;

  std::size_t max_;
  std::int64_t num_added_ = 0;
  std::vector<double> seconds_;
};

/// Returns "step: predicted 12.3 ms, measured 13 ms (median of 40): ratio 0.95"; empty if no step was measured.
std::string compare_step(double predicted_seconds, const StepClock& clock);

}  // namespace convoy
