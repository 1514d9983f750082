/// The formulas of TargetLossOp in double, for the code of every device.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "convoy/base/deviation.h"
#include "convoy/ops/target_loss.h"

#include "ops/formula.h"
#include "ops/loss_part.h"

namespace convoy::ops {

/// The number of neighbouring values of a sample that are added up first, as one LossPart.
inline constexpr std::int64_t kValuesOfPart = 512;

/// The numbers that belong to one of the K outputs.
struct OutputNumbers {
  double mean = 0, stddev = 1, weight = 1;
};

inline std::vector<OutputNumbers> numbers_of_outputs(const TargetLossSpec& spec) {
  std::vector<OutputNumbers> all(static_cast<std::size_t>(spec.num_outputs));
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!spec.mean.empty()) all[k].mean = spec.mean[k];
    if (!spec.stddev.empty()) all[k].stddev = divisor_of(spec.stddev[k]);
    if (!spec.weights.empty()) all[k].weight = double{spec.weights[k]};
  }
  return all;
}

/// The number of values of a sample, and of its parts.
struct TargetExtents {
  explicit TargetExtents(const TargetLossSpec& spec)
      : n(spec.n),
        outputs(spec.num_outputs),
        values(spec.num_pixels * spec.num_outputs),
        parts((values + kValuesOfPart - 1) / kValuesOfPart) {}

  std::int64_t n, outputs, values, parts;
};

/// The error of one output: y is the output, t the raw target.
struct TargetError {
  TargetLossKind kind;
  double delta;

  /// Returns what a value adds to the loss of its sample; zeros if the target is not known.
  CONVOY_FORMULA LossPart part(double y, double t, const OutputNumbers& of) const {
    if (t != t) return {};
    const double target = (t - of.mean) / of.stddev, d = y - target, size = std::fabs(d);
    switch (kind) {
      case TargetLossKind::kSquaredError:
        return {of.weight * (d * d), 0, 1};
      case TargetLossKind::kAbsoluteError:
        return {of.weight * size, 0, 1};
      case TargetLossKind::kHuberError:
        return {of.weight * (size <= delta ? 0.5 * (d * d) : delta * (size - 0.5 * delta)), 0, 1};
      case TargetLossKind::kBinaryCrossEntropy:
        break;
    }
    const double rest = std::log1p(std::exp(-std::fabs(y)));  // of log(1 + exp(y)) = max(y, 0) + rest
    const double if_true = (y < 0 ? -y : 0.0) + rest, if_false = (y > 0 ? y : 0.0) + rest;
    return {of.weight * target * if_true + (1 - target) * if_false, y - y == 0 && (y > 0) == (target > 0.5) ? 1 : 0, 1};
  }

  /// Returns the derivative of the value's loss with respect to y; 0 if the target is not known.
  CONVOY_FORMULA double slope(double y, double t, const OutputNumbers& of) const {
    if (t != t) return 0;
    const double target = (t - of.mean) / of.stddev, d = y - target;
    const double sign = d > 0 ? 1 : d < 0 ? -1 : d;  // NaN stays NaN
    switch (kind) {
      case TargetLossKind::kSquaredError:
        return of.weight * (2 * d);
      case TargetLossKind::kAbsoluteError:
        return of.weight * sign;
      case TargetLossKind::kHuberError:
        return of.weight * (std::fabs(d) <= delta ? d : delta * sign);
      case TargetLossKind::kBinaryCrossEntropy:
        break;
    }
    const double e = std::exp(-std::fabs(y)), larger = 1 / (1 + e), smaller = e * larger;  // s(|y|) and s(-|y|)
    const bool positive = y > 0;
    return (1 - target) * (positive ? larger : smaller) - of.weight * target * (positive ? smaller : larger);
  }
};

}  // namespace convoy::ops
