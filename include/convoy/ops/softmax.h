/// The contract of softmax as a layer of its own: the shares of a row's values.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

struct SoftmaxSpec {
  std::int64_t num_rows = 0;           ///< number of rows, R
  std::int64_t width = 0;              ///< number of values of a row, C
  DataType type = DataType::kFloat32;  ///< storage type of x, y, dy and dx
};

/// Softmax of each row, (R,C), with d = x - max_C(x), and its gradient:
///   y = exp(d) / sum_C(exp(d))    dx = y * (dy - sum_C(dy * y))
/// Computed in float32 and rounded once to spec.type. The relative error of y is at most (2 |d| + C + 16) 2^-24; if it
/// is below 2^-100, its absolute error is at most 2^-100. A row with a NaN, an infinity, or nothing but -infinity
/// becomes NaN; other -infinities become 0. The bits of a row depend on this row alone.
class SoftmaxOp {
 public:
  using Spec = SoftmaxSpec;
  static constexpr const char* kName = "softmax";

  virtual ~SoftmaxOp() = default;

  /// Computes y of x. y may be x.
  virtual void forward(const void* x, void* y) = 0;
  /// Computes dx of the y of forward() and of dy. dx may be dy.
  virtual void backward(const void* y, const void* dy, void* dx) = 0;
};

}  // namespace convoy::ops
