/// Judges repeated measurements by their fastest: a disturbance never makes a measurement shorter.
#include "convoy/base/repetitions.h"

#include <algorithm>
#include <limits>

#include "convoy/base/median.h"

namespace convoy {

Repetitions judge_repetitions(const std::vector<double>& seconds) {
  const double middle = median(seconds), fastest = *std::ranges::min_element(seconds);
  return {.median_seconds = middle, .spread = middle / fastest - 1};
}

double disagreement_of_fastest(std::vector<double> seconds) {
  if (seconds.size() < 2) return std::numeric_limits<double>::infinity();
  std::ranges::partial_sort(seconds, seconds.begin() + 2);
  return seconds[1] / seconds[0] - 1;
}

Steadiest measure_until_steady(double max_spread, const std::function<Repetitions()>& measure) {
  Steadiest best;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const Repetitions now = measure();
    if (attempt == 0 || now.median_seconds < best.repetitions.median_seconds)
      best = {.attempt = static_cast<std::size_t>(attempt), .repetitions = now};
    if (now.spread <= max_spread) break;
  }
  return best;
}

}  // namespace convoy
