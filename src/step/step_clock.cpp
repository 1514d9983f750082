/// The times of the latest steps in a ring.
#include "step/step_clock.h"

#include <algorithm>

#include <fmt/format.h>

#include "convoy/base/median.h"

namespace convoy {

namespace {

constexpr std::int64_t kWarmUpSteps = 3;  // caches, and GPU graphs

}  // namespace

StepClock::StepClock(std::int64_t max) : max_(static_cast<std::size_t>(max)) {
  seconds_.reserve(max_);
}

void StepClock::add(double seconds) {
  const std::int64_t index = num_added_++ - kWarmUpSteps;
  if (index < 0) return;
  if (seconds_.size() < max_) {
    seconds_.push_back(seconds);
  } else {
    seconds_[static_cast<std::size_t>(index) % max_] = seconds;
  }
}

double StepClock::median_seconds() const {
  return seconds_.empty() ? 0 : median(seconds_);
}

double StepClock::recent_seconds() const {
  if (seconds_.empty()) return 0;
  const std::size_t num = std::min(seconds_.size(), kRecentSteps);
  const auto newest = static_cast<std::size_t>(num_added_ - kWarmUpSteps - 1);
  double sum = 0;
  for (std::size_t i = 0; i < num; ++i) sum += seconds_[(newest - i) % max_];
  return sum / static_cast<double>(num);
}

std::string compare_step(double predicted_seconds, const StepClock& clock) {
  if (clock.num_steps() == 0) return "";
  const double measured = clock.median_seconds();
  return fmt::format("step: predicted {:.4g} ms, measured {:.4g} ms (median of {}): ratio {:.2f}",
                     1e3 * predicted_seconds, 1e3 * measured, clock.num_steps(), predicted_seconds / measured);
}

}  // namespace convoy
