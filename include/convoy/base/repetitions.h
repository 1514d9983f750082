/// Repeated measurements of the same work: whether something else on the machine disturbed them.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace convoy {

/// Times of the same work, measured several times. A disturbance only makes it longer, so the fastest is the least
/// disturbed.
struct Repetitions {
  double median_seconds = 0;
  double spread = 0;  ///< median / fastest - 1
};

/// Median and spread of `seconds`: at least one value, all positive.
Repetitions judge_repetitions(const std::vector<double>& seconds);

/// Second fastest / fastest - 1: measurements at different moments agree if two of them are undisturbed. Infinite for
/// fewer than two.
double disagreement_of_fastest(std::vector<double> seconds);

/// The most trustworthy of several attempts at a measurement.
struct Steadiest {
  std::size_t attempt = 0;  ///< from 0
  Repetitions repetitions;
};

inline constexpr int kMaxAttempts = 2;

/// Calls `measure` until the spread of its repetitions is at most `max_spread`, kMaxAttempts times at most. Returns the
/// attempt with the shortest median.
Steadiest measure_until_steady(double max_spread, const std::function<Repetitions()>& measure);

}  // namespace convoy
