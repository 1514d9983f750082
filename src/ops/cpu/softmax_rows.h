/// The sums that losses need of a row of logits, in double: up to a few thousand classes by the C library's exp, whose
/// cost is negligible there, for more classes in vectors.
#pragma once

#include <cstdint>

namespace convoy::ops::cpu {

struct Bf16;

inline constexpr std::int64_t kFewSoftmaxClasses = 4096;

/// A row's maximum and its sums: with d = z - max, sum_exp of exp d and sum of d.
struct RowSums {
  double max = 0, sum_exp = 0, sum = 0;
  std::int64_t best = 0;  ///< index of the maximum, the first among equals
};

/// Computes a row's maximum and sums. If a logit is NaN or infinite, a sum is, too.
RowSums sum_row(const float* z, std::int64_t count);

/// The numbers of a row's gradient dz = scale (exp(z - max - log_sum_exp) - target). write_gradient() computes it in
/// vectors and rounds it to float32 and then to the storage type. dz may be z.
struct RowGradient {
  double max, log_sum_exp, scale, target;
};
void write_gradient(const float* z, std::int64_t count, const RowGradient& gradient, float* dz);
void write_gradient(const float* z, std::int64_t count, const RowGradient& gradient, Bf16* dz);

}  // namespace convoy::ops::cpu
