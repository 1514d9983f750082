/// Layer normalisation in double, as Ba et al. 2016 define it: the oracle of LayerNormOp.
#pragma once

#include <cmath>

#include "convoy/ops/layer_norm.h"

#include "reference/array.h"

namespace convoy::reference {

struct LayerNormResult {
  Array y, mean, inv_std;
};

inline LayerNormResult layer_norm(const ops::LayerNormSpec& spec, const Array& x, const Array& gamma,
                                  const Array& beta) {
  LayerNormResult result{Array(x.size()), Array(index(spec.num_rows)), Array(index(spec.num_rows))};
  const auto count = static_cast<double>(spec.width);
  for (std::int64_t r = 0; r < spec.num_rows; ++r) {
    double sum = 0, squares = 0;
    for (std::int64_t c = 0; c < spec.width; ++c) sum += x[index(r * spec.width + c)];
    const double mean = sum / count;
    for (std::int64_t c = 0; c < spec.width; ++c) squares += std::pow(x[index(r * spec.width + c)] - mean, 2);
    const double inv_std = 1 / std::sqrt(squares / count + static_cast<double>(spec.epsilon));
    result.mean[index(r)] = mean;
    result.inv_std[index(r)] = inv_std;
    for (std::int64_t c = 0; c < spec.width; ++c) {
      const std::size_t at = index(r * spec.width + c);
      result.y[at] = gamma[index(c)] * (x[at] - mean) * inv_std + beta[index(c)];
    }
  }
  return result;
}

struct LayerNormGradient {
  Array dx, dgamma, dbeta;
  Array scale_of_dgamma, scale_of_dbeta;  ///< sums of |dy h| and |dy|, the units of rounding errors
  Array mean_g, mean_gh;                  ///< (R) with g = gamma dy, h = (x - mean) inv_std
  Array scale_of_mean_g, scale_of_mean_gh;
};

/// Returns the gradients. `forward` has the mean and inv_std that backward is given.
inline LayerNormGradient layer_norm_gradient(const ops::LayerNormSpec& spec, const Array& x, const Array& gamma,
                                             const LayerNormResult& forward, const Array& dy) {
  const std::size_t rows = index(spec.num_rows), width = index(spec.width);
  LayerNormGradient result{.dx = Array(x.size()),
                           .dgamma = Array(width),
                           .dbeta = Array(width),
                           .scale_of_dgamma = Array(width),
                           .scale_of_dbeta = Array(width),
                           .mean_g = Array(rows),
                           .mean_gh = Array(rows),
                           .scale_of_mean_g = Array(rows),
                           .scale_of_mean_gh = Array(rows)};
  const auto count = static_cast<double>(spec.width);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto h = [&](std::size_t c) { return (x[r * width + c] - forward.mean[r]) * forward.inv_std[r]; };
    for (std::size_t c = 0; c < width; ++c) {
      const double dy_here = dy[r * width + c], g = gamma[c] * dy_here;
      result.dgamma[c] += dy_here * h(c);
      result.dbeta[c] += dy_here;
      result.scale_of_dgamma[c] += std::abs(dy_here * h(c));
      result.scale_of_dbeta[c] += std::abs(dy_here);
      result.mean_g[r] += g / count;
      result.mean_gh[r] += g * h(c) / count;
      result.scale_of_mean_g[r] += std::abs(g) / count;
      result.scale_of_mean_gh[r] += std::abs(g * h(c)) / count;
    }
    for (std::size_t c = 0; c < width; ++c) {
      const double g = gamma[c] * dy[r * width + c];
      result.dx[r * width + c] = forward.inv_std[r] * (g - result.mean_g[r] - h(c) * result.mean_gh[r]);
    }
  }
  return result;
}

}  // namespace convoy::reference
