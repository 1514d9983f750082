/// What the loss needs of a row of many logits, in vectors of doubles.
#pragma once

#include <cstdint>

namespace convoy::ops::cpu {

struct Bf16;

/// Of the row's maximum, the first among equals; with d = z - max, of d and exp d.
struct RowSums {
  double max = 0, sum_exp = 0, sum = 0;
  std::int64_t best = 0;  ///< the maximum's index
};

/// Any sum is NaN or infinite where a logit is.
RowSums sum_row(const float* z, std::int64_t count);

/// dz = scale (exp(z - max - log_sum_exp) - target), rounded to float32 and then to what is stored.
struct RowGradient {
  double max, log_sum_exp, scale, target;
};
void write_gradient(const float* z, std::int64_t count, const RowGradient& gradient, float* dz);
void write_gradient(const float* z, std::int64_t count, const RowGradient& gradient, Bf16* dz);

}  // namespace convoy::ops::cpu
