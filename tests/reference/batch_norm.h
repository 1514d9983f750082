/// Batch normalisation in double, as algorithm 1 of Ioffe & Szegedy 2015 writes it: the oracle of BatchNormOp.
#pragma once

#include <algorithm>
#include <cmath>

#include "convoy/ops/batch_norm.h"

#include "reference/array.h"

namespace convoy::reference {

struct BatchNormResult {
  Array y, mean, inv_std, var_unbiased;
  Array argument;  ///< argument of the ReLU
};

inline BatchNormResult batch_norm(const ops::BatchNormSpec& spec, const Array& x, const Array& residual,
                                  const Array& gamma, const Array& beta) {
  const std::int64_t channels = spec.x.c, count = spec.x.pixels();
  BatchNormResult result{Array(x.size()), Array(index(channels)), Array(index(channels)), Array(index(channels)),
                         Array(x.size())};
  for (std::int64_t c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += x[index(i * channels + c)];
    const double mean = sum / static_cast<double>(count);
    for (std::int64_t i = 0; i < count; ++i) squares += std::pow(x[index(i * channels + c)] - mean, 2);
    const double inv_std = 1 / std::sqrt(squares / static_cast<double>(count) + static_cast<double>(spec.epsilon));
    result.mean[index(c)] = mean;
    result.inv_std[index(c)] = inv_std;
    result.var_unbiased[index(c)] = squares / std::max(1.0, static_cast<double>(count - 1));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::size_t at = index(i * channels + c);
      double v = gamma[index(c)] * (x[at] - mean) * inv_std + beta[index(c)];
      if (spec.residual) v += residual[at];
      result.argument[at] = v;
      result.y[at] = spec.relu ? std::max(0.0, v) : v;
    }
  }
  return result;
}

struct BatchNormGradient {
  Array dx, dresidual, dgamma, dbeta;
  Array scale_of_dgamma;  ///< sum |g xhat|, the unit of rounding errors of dgamma
  Array scale_of_dbeta;   ///< sum |g|, the unit of rounding errors of dbeta
};

/// Backward by section 3 of the paper. `forward` is the result of batch_norm() for the same arguments.
inline BatchNormGradient batch_norm_gradient(const ops::BatchNormSpec& spec, const Array& x, const Array& gamma,
                                             const BatchNormResult& forward, const Array& dy) {
  const std::int64_t channels = spec.x.c, count = spec.x.pixels();
  BatchNormGradient result{Array(x.size()),        Array(x.size()),        Array(index(channels)),
                           Array(index(channels)), Array(index(channels)), Array(index(channels))};
  for (std::int64_t c = 0; c < channels; ++c) {
    const double mean = forward.mean[index(c)], inv_std = forward.inv_std[index(c)];
    double dgamma = 0, dbeta = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::size_t at = index(i * channels + c);
      const double g = spec.relu && forward.argument[at] <= 0 ? 0 : dy[at], xhat = (x[at] - mean) * inv_std;
      result.dresidual[at] = g;
      dgamma += g * xhat;
      dbeta += g;
      result.scale_of_dgamma[index(c)] += std::abs(g * xhat);
      result.scale_of_dbeta[index(c)] += std::abs(g);
    }
    result.dgamma[index(c)] = dgamma;
    result.dbeta[index(c)] = dbeta;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::size_t at = index(i * channels + c);
      const double xhat = (x[at] - mean) * inv_std;
      result.dx[at] =
          gamma[index(c)] * inv_std *
          (result.dresidual[at] - dbeta / static_cast<double>(count) - xhat * dgamma / static_cast<double>(count));
    }
  }
  return result;
}

struct BatchNormInferenceGradient {
  Array dx, dresidual;
};

/// Backward of inference, in which a channel's values are scaled and shifted by numbers that do not depend on them. `y`
/// is the result of inference.
inline BatchNormInferenceGradient batch_norm_inference_gradient(const ops::BatchNormSpec& spec, const Array& y,
                                                                const Array& gamma, const Array& running_var,
                                                                const Array& dy) {
  BatchNormInferenceGradient result{Array(dy.size()), Array(dy.size())};
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const std::size_t c = i % gamma.size();
    result.dresidual[i] = spec.relu && y[i] <= 0 ? 0 : dy[i];
    result.dx[i] = result.dresidual[i] * gamma[c] / std::sqrt(running_var[c] + static_cast<double>(spec.epsilon));
  }
  return result;
}

}  // namespace convoy::reference
