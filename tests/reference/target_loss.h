/// The losses of targets by their definition, in long double: the oracle of TargetLossOp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "convoy/ops/target_loss.h"

#include "reference/array.h"
#include "reference/sample_cross_entropy.h"

namespace convoy::reference {

/// One output that has a target: the standardised target, the weight, and the number of its sample's targets.
struct TargetOf {
  long double target, weight;
};

inline TargetOf target_of(const ops::TargetLossSpec& spec, const Array& targets, std::int64_t i) {
  const std::size_t k = index(i % spec.num_outputs);
  const long double mean = spec.mean.empty() ? 0 : spec.mean[k];
  const long double stddev = spec.stddev.empty() || spec.stddev[k] == 0 ? 1 : spec.stddev[k];
  return {(targets[index(i)] - mean) / stddev, spec.weights.empty() ? 1.0L : static_cast<long double>(spec.weights[k])};
}

/// The error f of one output.
inline long double target_error(const ops::TargetLossSpec& spec, long double y, const TargetOf& of) {
  const long double d = y - of.target, delta = spec.huber_delta, size = std::abs(d);
  switch (spec.kind) {
    case ops::TargetLossKind::kSquaredError:
      return of.weight * d * d;
    case ops::TargetLossKind::kAbsoluteError:
      return of.weight * size;
    case ops::TargetLossKind::kHuberError:
      return of.weight * (size <= delta ? d * d / 2 : delta * (size - delta / 2));
    case ops::TargetLossKind::kBinaryCrossEntropy:
      break;
  }
  const auto minus_log_of_sigmoid = [](long double z) {
    return std::log1p(std::exp(-std::abs(z))) - std::min(z, 0.0L);
  };
  return of.weight * of.target * minus_log_of_sigmoid(y) + (1 - of.target) * minus_log_of_sigmoid(-y);
}

/// The derivative f' of the error.
inline long double target_slope(const ops::TargetLossSpec& spec, long double y, const TargetOf& of) {
  const long double d = y - of.target, delta = spec.huber_delta;
  switch (spec.kind) {
    case ops::TargetLossKind::kSquaredError:
      return of.weight * 2 * d;
    case ops::TargetLossKind::kAbsoluteError:
      return d == 0 ? 0 : std::copysign(of.weight, d);
    case ops::TargetLossKind::kHuberError:
      return of.weight * std::max(-delta, std::min(d, delta));
    case ops::TargetLossKind::kBinaryCrossEntropy:
      break;
  }
  const auto sigmoid = [](long double z) { return 1 / (1 + std::exp(-z)); };
  return (1 - of.target) * sigmoid(y) - of.weight * of.target * sigmoid(-y);
}

inline SampleScores target_scores(const ops::TargetLossSpec& spec, const Array& targets, const Array& outputs) {
  const auto zeros = Array(index(spec.n));
  SampleScores scores{zeros, zeros, zeros};
  const std::int64_t values = spec.num_pixels * spec.num_outputs;
  for (std::int64_t n = 0; n < spec.n; ++n) {
    long double loss = 0;
    for (std::int64_t i = n * values; i < (n + 1) * values; ++i) {
      if (std::isnan(targets[index(i)])) continue;
      const TargetOf of = target_of(spec, targets, i);
      loss += target_error(spec, outputs[index(i)], of);
      const bool is_label = spec.kind == ops::TargetLossKind::kBinaryCrossEntropy;
      scores.num_correct[index(n)] += is_label && (outputs[index(i)] > 0) == (of.target > 0.5L) ? 1 : 0;
      scores.num_labels[index(n)] += 1;
    }
    if (scores.num_labels[index(n)] > 0)
      scores.loss[index(n)] = static_cast<double>(loss / scores.num_labels[index(n)]);
  }
  return scores;
}

inline Array target_gradient(const ops::TargetLossSpec& spec, const Array& targets, const Array& outputs,
                             const Array& dloss) {
  Array doutputs(outputs.size());
  const Array num_labels = target_scores(spec, targets, outputs).num_labels;
  for (std::int64_t i = 0; i < std::ssize(outputs); ++i) {
    if (std::isnan(targets[index(i)])) continue;
    const std::size_t n = index(i / (spec.num_pixels * spec.num_outputs));
    const long double slope = target_slope(spec, outputs[index(i)], target_of(spec, targets, i));
    doutputs[index(i)] = static_cast<double>(dloss[n] * slope / num_labels[n]);
  }
  return doutputs;
}

}  // namespace convoy::reference
