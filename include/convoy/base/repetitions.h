/// Whether repeated measurements of the same work were disturbed by something else on the machine.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace convoy {

/// The same work, timed several times. A disturbance only makes it longer, so the fastest is the least disturbed.
struct Repetitions {
  double median_seconds = 0;
  double spread = 0;  ///< how much longer the median is than the fastest, as a share of it
};

/// `seconds`: at least one, all positive.
Repetitions judge_repetitions(const std::vector<double>& seconds);

/// How much longer the second fastest is than the fastest, as a share of it: measurements at different moments agree if
/// two of them are undisturbed. Infinite for fewer than two.
double disagreement_of_fastest(std::vector<double> seconds);

/// Which of several attempts at a measurement is to be believed.
struct Steadiest {
  std::size_t attempt = 0;  ///< from 0
  Repetitions repetitions;
};

inline constexpr int kMaxAttempts = 2;

/// Calls `measure` until the spread of its repetitions is at most `max_spread`, kMaxAttempts times at most. The attempt
/// with the shortest median is the one to be believed.
Steadiest measure_until_steady(double max_spread, const std::function<Repetitions()>& measure);

}  // namespace convoy
