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
  /// Of an even number the shorter one of the two in the middle; 0 where there is none.
  double median_seconds() const;
  /// The mean of the latest `kRecentSteps` steps after the warm-up, or of as many as there are; 0 where there is none.
  double recent_seconds() const;

 private:
  static constexpr std::size_t kRecentSteps = 64;

  std::size_t max_;
  std::int64_t num_added_ = 0;
  std::vector<double> seconds_;
};

/// "step: predicted 12.3 ms, measured 13 ms (median of 40): ratio 0.95"; empty where no step was measured.
std::string compare_step(double predicted_seconds, const StepClock& clock);

}  // namespace convoy
