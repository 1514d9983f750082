/// The mean of two softmaxes, in double: rank 0 does it for all samples.
#include "train/two_views.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace convoy {

namespace {

void add_softmax(std::span<const float> logits, std::span<double> sums) {
  const auto most = static_cast<double>(*std::ranges::max_element(logits));
  double total = 0;
  for (const float z : logits) total += std::exp(static_cast<double>(z) - most);
  for (std::size_t k = 0; k < logits.size(); ++k) sums[k] += std::exp(static_cast<double>(logits[k]) - most) / total;
}

}  // namespace

std::vector<float> mean_of_views(std::span<const float> plain, std::span<const float> mirrored,
                                 std::int64_t num_classes) {
  static constexpr double kLeast = std::numeric_limits<double>::min();
  const auto classes = static_cast<std::size_t>(num_classes);
  std::vector<float> result;
  result.reserve(plain.size());
  std::vector<double> sums(classes);
  for (std::size_t row = 0; row < plain.size(); row += classes) {
    std::ranges::fill(sums, 0.0);
    add_softmax(plain.subspan(row, classes), sums);
    add_softmax(mirrored.subspan(row, classes), sums);
    std::ranges::transform(sums, std::back_inserter(result), [](double sum) {
      return static_cast<float>(std::log(std::max(sum / 2, kLeast)));  // NaN stays NaN
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
