/// The contract of activations that stand by themselves.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/params/parameters.h"

namespace convoy::ops {

using Activation = ActivationKind;

struct ActivationSpec {
  std::int64_t count = 0;
  Activation activation = Activation::kRelu;
  DataType type = DataType::kFloat32;  ///< of x, y, dy, dx
};

/// y = f(x)    dx = dy * f'(x)    computed in float32, rounded once to spec.type
/// Where x > -4, f to within 6 units in the last place of float32 and f' to within 6 of the sum of its two terms' sizes
/// (Phi and |x| phi), which cancel at -0.75; below, where both vanish, to within 2^-28. tanh everywhere to within 6
/// units, and its derivative, which vanishes on both sides, to within 6 where |x| < 4, else to within 2^-28. NaN stays
/// NaN.
class ActivationOp {
 public:
  using Spec = ActivationSpec;
  static constexpr const char* kName = "activation";

  virtual ~ActivationOp() = default;

  /// y may be x.
  virtual void forward(const void* x, void* y) = 0;
  /// x as in forward; dx may be dy.
  virtual void backward(const void* x, const void* dy, void* dx) = 0;
};

}  // namespace convoy::ops
