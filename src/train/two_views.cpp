/// The mean of two softmaxes, in double: rank 0 does it for all samples.
#include "train/two_views.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "train/class_scores.h"

namespace convoy {

std::vector<float> mean_of_views(std::span<const float> plain, std::span<const float> mirrored,
                                 std::int64_t num_classes) {
  static constexpr double kLeast = std::numeric_limits<double>::min();
  const auto classes = static_cast<std::size_t>(num_classes);
  std::vector<float> result;
  result.reserve(plain.size());
  for (std::size_t row = 0; row < plain.size(); row += classes) {
    const std::vector<double> p = probabilities(plain.subspan(row, classes)),
                              q = probabilities(mirrored.subspan(row, classes));
    std::ranges::transform(p, q, std::back_inserter(result), [](double a, double b) {
      return static_cast<float>(std::log(std::max((a + b) / 2, kLeast)));  // NaN stays NaN
    });
  }
  return result;
}

StepMetrics score(std::span<const float> log_probabilities, std::int64_t label) {
  const auto best = std::ranges::max_element(log_probabilities) - log_probabilities.begin();
  return {.loss_sum = -static_cast<double>(log_probabilities[static_cast<std::size_t>(label)]),
          .num_correct = best == label ? 1 : 0,
          .num_samples = 1};
}

}  // namespace convoy
