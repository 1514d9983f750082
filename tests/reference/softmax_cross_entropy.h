/// The loss by its definition, in long double: the oracle of SoftmaxCrossEntropyOp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "convoy/ops/softmax_cross_entropy.h"

#include "reference/array.h"

namespace convoy::reference {

struct LossResult {
  ops::LossSums sums;
  Array dlogits;
};

inline LossResult softmax_cross_entropy(const ops::SoftmaxCrossEntropySpec& spec, const Array& logits,
                                        const std::vector<std::int32_t>& labels, double loss_scale = 1,
                                        const std::vector<ops::MixedLabel>& mixed_labels = {}) {
  LossResult result{{}, Array(logits.size())};
  const std::int64_t classes = spec.num_classes;
  const long double smoothing = spec.label_smoothing;
  for (std::int64_t n = 0; n < spec.n; ++n) {
    const std::int32_t label = labels[index(n)];
    if (label == ops::kNoLabel) continue;
    const double* z = logits.data() + n * classes;
    const ops::MixedLabel second = mixed_labels.empty() ? ops::MixedLabel{label, 0} : mixed_labels[index(n)];
    const long double share = second.share;
    const long double max = *std::max_element(z, z + classes);
    long double sum = 0;
    for (std::int64_t k = 0; k < classes; ++k) sum += std::exp(z[k] - max);
    const auto target_of = [&](std::int64_t k) {
      const long double weight = spec.class_weights.empty() ? 1.0F : spec.class_weights[index(k)];
      const long double hard = (k == label ? 1 - share : 0) + (k == second.label ? share : 0);
      return weight * (smoothing / static_cast<long double>(classes) + (1 - smoothing) * hard);
    };
    long double targets = 0;
    for (std::int64_t k = 0; k < classes; ++k) targets += target_of(k);
    for (std::int64_t k = 0; k < classes; ++k) {
      const long double log_p = z[k] - max - std::log(sum), target = target_of(k);
      result.sums.loss -= static_cast<double>(target * log_p);
      result.dlogits[index(n * classes + k)] = loss_scale * static_cast<double>(spec.gradient_scale) *
                                               static_cast<double>(targets * std::exp(log_p) - target);
    }
    result.sums.num_correct += std::max_element(z, z + classes) - z == (share > 0.5L ? second.label : label) ? 1 : 0;
    result.sums.num_samples += 1;
  }
  return result;
}

}  // namespace convoy::reference
