/// The contract of activations that are operations of their own.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/params/choices.h"

namespace convoy::ops {

using Activation = ActivationKind;

struct ActivationSpec {
  std::int64_t count = 0;
  Activation activation = Activation::kRelu;
  DataType type = DataType::kFloat32;  ///< storage type of x, y, dy and dx
};

/// An activation f: y = f(x), dx = dy * f'(x), computed in float32 and rounded once to spec.type. NaN stays NaN. The
/// largest errors are, in units in the last place (ULP) of float32 or as absolute errors:
///   f            6 ULP if x > -4; for smaller x, where f tends to 0, absolute 2^-28
///   f'           6 ULP of the sum of the sizes of its two terms (Phi and |x| phi), which cancel at x = -0.75, if
///                x > -4; for smaller x, where f' tends to 0, absolute 2^-28
///   tanh         6 ULP for every x
///   tanh'        6 ULP if |x| < 4; for other x, where tanh' tends to 0, absolute 2^-28
class ActivationOp {
 public:
  using Spec = ActivationSpec;
  static constexpr const char* kName = "activation";

  virtual ~ActivationOp() = default;

  /// Computes y = f(x) for spec.count values. y may be x.
  virtual void forward(const void* x, void* y) = 0;
  /// Computes dx = dy * f'(x). x is the input of forward(). dx may be dy.
  virtual void backward(const void* x, const void* dy, void* dx) = 0;
};

}  // namespace convoy::ops
