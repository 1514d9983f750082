/// The times of the latest steps in a ring.
#include "step/step_clock.h"

#include <algorithm>

#include <fmt/core.h>

#include "convoy/base/median.h"
#include "convoy/base/wording.h"

namespace convoy {

namespace {

constexpr std::int64_t kWarmUpSteps = 3;  // caches, and GPU graphs
constexpr double kMaxRatio = 1.4;         // predictions on a machine of one's own are up to a quarter off
constexpr double kShortSeconds = 1e-3;    // below, the latency of messages and of starting work is a large part

// Says why a prediction is far from the measured duration of a step.
std::string describe_difference(double measured_seconds, std::int64_t num_ranks) {
  if (measured_seconds >= kShortSeconds)
    return ". That is a large difference: other programs may have used these processors, now or when costs.txt of "
           "run.directory was measured. To measure again at the next start, remove that file";
  if (num_ranks > 1)
    return ". A step this short consists mostly of waiting for messages, whose time is hard to predict: a run on one "
           "rank may be faster, and so may a larger batch.micro";
  return ". A step this short consists mostly of starting its operations, whose time is hard to predict";
}

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

std::string compare_step(double predicted_seconds, const StepClock& clock, std::int64_t num_ranks) {
  if (clock.num_steps() == 0) return "";
  const double measured = clock.median_seconds();
  const double ratio = predicted_seconds / measured;
  const bool is_far = ratio > kMaxRatio || ratio < 1 / kMaxRatio;
  return fmt::format("step: predicted {} ms, measured {} ms (median of {}): ratio {:.2f}{}",
                     plain_number(1e3 * predicted_seconds), plain_number(1e3 * measured), clock.num_steps(), ratio,
                     is_far ? describe_difference(measured, num_ranks) : "");
}

}  // namespace convoy
