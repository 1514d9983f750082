/// Layer, RMS and group normalisation in double, by their definitions: the oracle of LayerNormOp.
#pragma once

#include <cmath>
#include <cstdint>

#include "convoy/ops/layer_norm.h"

#include "reference/array.h"

namespace convoy::reference {

struct LayerNormResult {
  Array y, mean, inv_std;
};

inline std::size_t column_of(const ops::LayerNormSpec& spec, std::size_t i) {
  return i % index(spec.width);
}
/// The index of the statistics to which value i of x belongs.
inline std::size_t statistic_of(const ops::LayerNormSpec& spec, std::size_t i) {
  const std::size_t row = i / index(spec.num_pixels * spec.width), columns = index(spec.width / spec.num_groups);
  return row * index(spec.num_groups) + column_of(spec, i) / columns;
}
/// The number of values that are normalised together.
inline double values_of_statistic(const ops::LayerNormSpec& spec) {
  const std::int64_t columns = spec.width / spec.num_groups;
  return static_cast<double>(spec.num_pixels * columns);
}

inline LayerNormResult layer_norm(const ops::LayerNormSpec& spec, const Array& x, const Array& gamma,
                                  const Array& beta) {
  const std::size_t num_statistics = index(spec.num_statistics());
  LayerNormResult result{Array(x.size()), Array(num_statistics), Array(num_statistics)};
  const double count = values_of_statistic(spec);
  if (spec.is_centred)
    for (std::size_t i = 0; i < x.size(); ++i) result.mean[statistic_of(spec, i)] += x[i] / count;
  Array squares(num_statistics);
  for (std::size_t i = 0; i < x.size(); ++i)
    squares[statistic_of(spec, i)] += std::pow(x[i] - result.mean[statistic_of(spec, i)], 2);
  for (std::size_t s = 0; s < num_statistics; ++s)
    result.inv_std[s] = 1 / std::sqrt(squares[s] / count + static_cast<double>(spec.epsilon));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t s = statistic_of(spec, i), c = column_of(spec, i);
    result.y[i] = gamma[c] * (x[i] - result.mean[s]) * result.inv_std[s] + (spec.is_centred ? beta[c] : 0);
  }
  return result;
}

struct LayerNormGradient {
  Array dx, dgamma, dbeta;
  Array scale_of_dgamma, scale_of_dbeta;  ///< sums of |dy h| and |dy|, the units of rounding errors
  Array mean_g, mean_gh;                  ///< (R,G) with g = gamma dy, h = (x - mean) inv_std
  Array scale_of_mean_g, scale_of_mean_gh;
};

/// Returns the gradients. `forward` has the mean and inv_std that backward is given.
inline LayerNormGradient layer_norm_gradient(const ops::LayerNormSpec& spec, const Array& x, const Array& gamma,
                                             const LayerNormResult& forward, const Array& dy) {
  const std::size_t num_statistics = index(spec.num_statistics()), width = index(spec.width);
  LayerNormGradient result{.dx = Array(x.size()),
                           .dgamma = Array(width),
                           .dbeta = Array(width),
                           .scale_of_dgamma = Array(width),
                           .scale_of_dbeta = Array(width),
                           .mean_g = Array(num_statistics),
                           .mean_gh = Array(num_statistics),
                           .scale_of_mean_g = Array(num_statistics),
                           .scale_of_mean_gh = Array(num_statistics)};
  const double count = values_of_statistic(spec);
  const auto h = [&](std::size_t i) {
    return (x[i] - forward.mean[statistic_of(spec, i)]) * forward.inv_std[statistic_of(spec, i)];
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t s = statistic_of(spec, i), c = column_of(spec, i);
    const double g = gamma[c] * dy[i], dyh = dy[i] * h(i);
    result.dgamma[c] += dyh;
    result.dbeta[c] += dy[i];
    result.scale_of_dgamma[c] += std::abs(dyh);
    result.scale_of_dbeta[c] += std::abs(dy[i]);
    if (spec.is_centred) result.mean_g[s] += g / count;
    result.mean_gh[s] += g * h(i) / count;
    result.scale_of_mean_g[s] += std::abs(g) / count;
    result.scale_of_mean_gh[s] += std::abs(g * h(i)) / count;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t s = statistic_of(spec, i);
    const double g = gamma[column_of(spec, i)] * dy[i];
    result.dx[i] = forward.inv_std[s] * (g - result.mean_g[s] - h(i) * result.mean_gh[s]);
  }
  return result;
}

}  // namespace convoy::reference
