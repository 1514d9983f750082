/// Activations by their definitions, the oracle of ActivationOp: in long double, since all digits of float32 are tested
/// also for large negative x.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "convoy/ops/activation.h"

#include "reference/array.h"

namespace convoy::reference {

/// f(x), and the two terms whose sum is f'(x).
struct ActivationTerms {
  long double value, first, second;
};

inline ActivationTerms activation_terms(const ops::ActivationSpec& spec, double at) {
  const long double x = at, pi = std::numbers::pi_v<long double>, factor = spec.factor;
  switch (spec.activation) {
    case ops::Activation::kSigmoid:
    case ops::Activation::kSilu: {
      const long double s = 1 / (1 + std::exp(-x)), slope = s / (1 + std::exp(x));
      if (spec.activation == ops::Activation::kSigmoid) return {s, slope, 0};
      return {x * s, s, x * slope};
    }
    case ops::Activation::kHardSigmoid:
      return {std::min(std::max((x + 3) / 6, 0.0L), 1.0L), std::abs(x) < 3 ? 1 / 6.0L : 0, 0};
    case ops::Activation::kHardSwish:
      if (x <= -3) return {0, 0, 0};
      if (x >= 3) return {x, 1, 0};
      return {x * (x + 3) / 6, x / 3, 0.5L};
    case ops::Activation::kLeakyRelu:
      return {x > 0 ? x : factor * x, x > 0 ? 1 : factor, 0};
    case ops::Activation::kAffine:
      return {factor * x + static_cast<long double>(spec.constant), factor, 0};
    case ops::Activation::kGelu: {
      const long double probability = std::erfc(-x / std::sqrt(2.0L)) / 2,
                        density = std::exp(-x * x / 2) / std::sqrt(2 * pi);
      return {x * probability, probability, x * density};
    }
    case ops::Activation::kGeluTanh: {
      const long double c = std::sqrt(2 / pi), u = c * (x + 0.044715L * x * x * x);
      // (1 + tanh u) / 2 without its cancellation
      const long double half = 1 / (1 + std::exp(-2 * u)), other_half = 1 / (1 + std::exp(2 * u));
      return {x * half, half, 2 * x * half * other_half * c * (1 + 3 * 0.044715L * x * x)};
    }
    case ops::Activation::kTanh: {
      // 1 - tanh^2 x without its cancellation
      const long double root = 1 / std::cosh(x);
      return {std::tanh(x), root * root, 0};
    }
    default:
      return {x > 0 ? x : 0, x > 0 ? 1.0L : 0.0L, 0};
  }
}

inline Array activation(const ops::ActivationSpec& spec, Array x) {
  for (double& value : x) value = static_cast<double>(activation_terms(spec, value).value);
  return x;
}

inline Array activation_gradient(const ops::ActivationSpec& spec, const Array& x, const Array& dy) {
  Array dx(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const ActivationTerms of = activation_terms(spec, x[i]);
    dx[i] = static_cast<double>(dy[i] * (of.first + of.second));
  }
  return dx;
}

}  // namespace convoy::reference
