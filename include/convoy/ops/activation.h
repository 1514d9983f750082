/// The contract of activations and other functions of single values that are operations of their own.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

enum class Activation {
  kRelu,         ///< max(0, x)
  kGelu,         ///< x Phi(x), Phi of the normal distribution (Hendrycks, Gimpel 2016)
  kGeluTanh,     ///< 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): approximates kGelu, as in BERT
  kTanh,         ///< tanh(x)
  kSigmoid,      ///< s(x) = 1 / (1 + exp(-x))
  kHardSigmoid,  ///< x / 6 + 1/2, at least 0 and at most 1
  kSilu,         ///< x s(x) (Elfwing et al. 2017)
  kHardSwish,    ///< x hard_sigmoid(x) (Howard et al. 2019)
  kLeakyRelu,    ///< x if x > 0, else factor * x
  kAffine,       ///< factor * x + constant
};

struct ActivationSpec {
  std::int64_t count = 0;
  Activation activation = Activation::kRelu;
  DataType type = DataType::kFloat32;  ///< storage type of x, y, dy and dx
  float factor = 1;                    ///< only kLeakyRelu, at least 0, and kAffine
  float constant = 0;                  ///< only kAffine
};

/// An activation f: y = f(x), dx = dy * f'(x), computed in float32 and rounded once to spec.type. NaN stays NaN. The
/// largest errors are, in units in the last place (ULP) of float32 or as absolute errors:
///   gelu, gelu_tanh               f: 6 ULP if x > -4; f': 6 ULP of the sum of the sizes of its two terms (Phi and
///                                 |x| phi), which cancel at x = -0.75, if x > -4; for smaller x, where both tend to 0,
///                                 absolute 2^-28
///   tanh                          f: 6 ULP; f': 6 ULP if |x| < 4, else absolute 2^-28, as it tends to 0
///   sigmoid                       f: 6 ULP if x > -87, else absolute 2^-125; f': the same by |x|
///   silu                          f: 6 ULP if x > -87; f': 6 ULP of the sum of the sizes of its two terms, s(x) and
///                                 x s'(x), if x > -87; for smaller x, where both tend to 0, absolute 2^-118
///   relu, leaky_relu, hard_...    f and f': 4 ULP
///   affine                        f: 4 ULP of the sum of the sizes of its two terms; f': no error
class ActivationOp {
 public:
  using Spec = ActivationSpec;
  static constexpr const char* kName = "activation";

  virtual ~ActivationOp() = default;

  /// Computes y = f(x) for spec.count values. y may be x.
  virtual void forward(const void* x, void* y) = 0;
  /// Computes dx = dy * f'(x). x is the input of forward(); that of kAffine is not read and may be null. For kRelu and
  /// kLeakyRelu, x may also be the output of forward(), with the same result. dx may be dy.
  virtual void backward(const void* x, const void* dy, void* dx) = 0;
};

}  // namespace convoy::ops
