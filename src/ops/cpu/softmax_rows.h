/// What losses need of a row of logits, in double: up to a few thousand classes by the C library's exp, which costs
/// nothing there, above them in vectors.
#pragma once

#include <cstdint>

namespace convoy::ops::cpu {

struct Bf16;

inline constexpr std::int64_t kFewSoftmaxClasses = 4096;

/// Of the row's maximum, the first among equals; with d = z - max, of d and exp d.
struct RowSums {
  double max = 0, sum_exp = 0, sum = 0;
  std::int64_t best = 0;  ///< the maximum's index
};

/// Any sum is NaN or infinite where a logit is.
RowSums sum_row(const float* z, std::int64_t count);

/// dz = scale (exp(z - max - log_sum_exp) - target) in vectors, rounded to float32 and then to what is stored; dz may
/// be z.
struct RowGradient {
  double max, log_sum_exp, scale, target;
};
void write_gradient(const float* z, std::int64_t count, const RowGradient& gradient, float* dz);
void write_gradient(const float* z, std::int64_t count, const RowGradient& gradient, Bf16* dz);

}  // namespace convoy::ops::cpu
