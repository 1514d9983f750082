/// Judges repeated measurements of the same work: whether something else on the machine disturbed them.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace convoy {

/// The median and the spread of several measured times of the same work. A disturbance only makes a time longer, so the
/// fastest is the least disturbed.
struct Repetitions {
  double median_seconds = 0;
  double spread = 0;  ///< relative spread: median / fastest - 1
};

/// Returns the median and spread of `seconds`, at least one value, all positive.
Repetitions judge_repetitions(const std::vector<double>& seconds);

/// Returns second fastest / fastest - 1: measurements at different times agree if two of them are undisturbed. Infinite
/// for fewer than two values.
double disagreement_of_fastest(std::vector<double> seconds);

/// The attempt with the shortest median, of several attempts at a measurement, and its number.
struct Steadiest {
  std::size_t attempt = 0;  ///< number of the attempt, from 0
  Repetitions repetitions;
};

inline constexpr int kMaxAttempts = 2;

/// Calls `measure` until the spread of its repetitions is at most `max_spread`, but at most kMaxAttempts times. Returns
/// the attempt with the shortest median.
Steadiest measure_until_steady(double max_spread, const std::function<Repetitions()>& measure);

}  // namespace convoy
