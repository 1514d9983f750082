/// The loss of samples with several labels by its definition, in long double: the oracle of SampleCrossEntropyOp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "convoy/ops/sample_cross_entropy.h"

#include "reference/array.h"

namespace convoy::reference {

/// The scores of all samples, (N) each.
struct SampleScores {
  Array loss, num_correct, num_labels;
};

/// Returns the log of the sum of exp(z) for the row z: log softmax(z)[k] is z[k] minus it.
inline long double log_sum(const double* z, std::int64_t num_classes) {
  const long double max = *std::max_element(z, z + num_classes);
  long double sum = 0;
  for (std::int64_t i = 0; i < num_classes; ++i) sum += std::exp(z[i] - max);
  return max + std::log(sum);
}

inline SampleScores sample_scores(const ops::SampleCrossEntropySpec& spec, const std::vector<std::int32_t>& labels,
                                  const Array& logits) {
  const auto zeros = Array(index(spec.n));
  SampleScores scores{zeros, zeros, zeros};
  for (std::int64_t n = 0; n < spec.n; ++n) {
    long double loss = 0;
    for (std::int64_t row = n * spec.num_rows; row < (n + 1) * spec.num_rows; ++row) {
      const std::int32_t label = labels[index(row)];
      if (label == ops::kNoLabel) continue;
      const double* z = logits.data() + row * spec.num_classes;
      loss -= z[label] - log_sum(z, spec.num_classes);
      scores.num_correct[index(n)] += std::max_element(z, z + spec.num_classes) - z == label ? 1 : 0;
      scores.num_labels[index(n)] += 1;
    }
    if (loss != 0) scores.loss[index(n)] = static_cast<double>(loss / scores.num_labels[index(n)]);
  }
  return scores;
}

inline Array sample_gradient(const ops::SampleCrossEntropySpec& spec, const std::vector<std::int32_t>& labels,
                             const Array& logits, const Array& dloss) {
  Array dlogits(logits.size());
  const Array num_labels = sample_scores(spec, labels, logits).num_labels;
  for (std::int64_t row = 0; row < spec.n * spec.num_rows; ++row) {
    const std::int32_t label = labels[index(row)];
    if (label == ops::kNoLabel) continue;
    const std::size_t n = index(row / spec.num_rows);
    const double* z = logits.data() + row * spec.num_classes;
    const long double log_of_sum = log_sum(z, spec.num_classes);
    for (std::int64_t k = 0; k < spec.num_classes; ++k) {
      const long double p = std::exp(z[k] - log_of_sum);
      dlogits[index(row * spec.num_classes + k)] =
          static_cast<double>(dloss[n] / num_labels[n] * (p - (k == label ? 1 : 0)));
    }
  }
  return dlogits;
}

}  // namespace convoy::reference
