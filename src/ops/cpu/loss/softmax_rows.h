/// The sums over a row of logits that cross-entropy losses need, in double. Up to kFewSoftmaxClasses classes they call
/// the C library's exp, whose cost is negligible; for more classes they use vectors.
#pragma once

#include <cstdint>

namespace convoy::ops::cpu {

struct Bf16;

inline constexpr std::int64_t kFewSoftmaxClasses = 4096;

/// The maximum of a row of logits z, and two sums: with d = z - max, sum_exp is the sum of exp(d) and `sum` that of d.
struct RowSums {
  double max = 0, sum_exp = 0, sum = 0;
  std::int64_t best = 0;  ///< index of the maximum; of equal values, of the first
};

/// Computes the maximum and the sums of the `count` logits z of a row. If a logit is NaN or infinite, a sum is, too.
RowSums sum_row(const float* z, std::int64_t count);

/// The numbers from which the gradient of a row of logits is computed: dz = scale (exp(z - max - log_sum_exp) -
/// target).
struct RowGradient {
  double max, log_sum_exp, scale, target;
};
/// Computes dz of the `count` logits z, in vectors, rounded to float32 and then to the type of dz. dz may be z.
void write_gradient(const float* z, std::int64_t count, const RowGradient& gradient, float* dz);
void write_gradient(const float* z, std::int64_t count, const RowGradient& gradient, Bf16* dz);

}  // namespace convoy::ops::cpu
