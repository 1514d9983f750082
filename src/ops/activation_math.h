/// The formulas of activations in float32, for the code of every device. They are accurate also for large negative x,
/// for which an activation is small and a sum 1 + erf or 1 + tanh has lost its digits.
///
/// A device provides its type of numbers and these operations, as members of `Math`:
///   V                           a float, or a vector of floats with the operators of one
///   multiply_add(a, b, c)       a b + c, rounded once if the processor can
///   product_error(a, b, p)      a b - p without error, with p = a b, rounded
///   magnitude(x)                |x|
///   add_to_exponent(v, n)       v 2^k, with k in the lowest 9 bits of n; v and the result are normal
#pragma once

#include <type_traits>

#include "convoy/ops/activation.h"

#include "ops/formula.h"

namespace convoy::ops {

template <Activation f>
using ActivationTag = std::integral_constant<Activation, f>;

/// Calls work(ActivationTag<f>{}), where f is the value of `activation`.
template <typename Work>
void with_activation(Activation activation, Work&& work) {
  switch (activation) {
    case Activation::kRelu:
      return work(ActivationTag<Activation::kRelu>{});
    case Activation::kGelu:
      return work(ActivationTag<Activation::kGelu>{});
    case Activation::kGeluTanh:
      return work(ActivationTag<Activation::kGeluTanh>{});
    case Activation::kTanh:
      return work(ActivationTag<Activation::kTanh>{});
    case Activation::kSigmoid:
      return work(ActivationTag<Activation::kSigmoid>{});
    case Activation::kHardSigmoid:
      return work(ActivationTag<Activation::kHardSigmoid>{});
    case Activation::kSilu:
      return work(ActivationTag<Activation::kSilu>{});
    case Activation::kHardSwish:
      return work(ActivationTag<Activation::kHardSwish>{});
    case Activation::kLeakyRelu:
      return work(ActivationTag<Activation::kLeakyRelu>{});
    case Activation::kAffine:
      return work(ActivationTag<Activation::kAffine>{});
  }
}

/// The numbers of ActivationSpec, for kernels.
struct ActivationNumbers {
  float factor, constant;
};

template <typename Math>
struct ActivationMath {
  using V = typename Math::V;

  /// Returns f(x).
  template <Activation f>
  CONVOY_FORMULA static V value(V x, [[maybe_unused]] const ActivationNumbers& numbers) {
    if constexpr (f == Activation::kRelu) {
      return relu(x);
    } else if constexpr (f == Activation::kGelu) {
      return gelu(x);
    } else if constexpr (f == Activation::kGeluTanh) {
      return gelu_tanh(x);
    } else if constexpr (f == Activation::kTanh) {
      return tanh(x);
    } else if constexpr (f == Activation::kSigmoid) {
      return sigmoid(x);
    } else if constexpr (f == Activation::kHardSigmoid) {
      return hard_sigmoid(x);
    } else if constexpr (f == Activation::kSilu) {
      return silu(x);
    } else if constexpr (f == Activation::kHardSwish) {
      return hard_swish(x);
    } else if constexpr (f == Activation::kLeakyRelu) {
      return leaky_relu(x, numbers.factor);
    } else {
      return Math::multiply_add(V{} + numbers.factor, x, V{} + numbers.constant);
    }
  }
  /// Returns dx = dy f'(x).
  template <Activation f>
  CONVOY_FORMULA static V gradient([[maybe_unused]] V x, V dy, [[maybe_unused]] const ActivationNumbers& numbers) {
    if constexpr (f == Activation::kRelu) {
      return relu_gradient(x, dy);
    } else if constexpr (f == Activation::kGelu) {
      return gelu_gradient(x, dy);
    } else if constexpr (f == Activation::kGeluTanh) {
      return gelu_tanh_gradient(x, dy);
    } else if constexpr (f == Activation::kTanh) {
      return tanh_gradient(x, dy);
    } else if constexpr (f == Activation::kSigmoid) {
      return sigmoid_gradient(x, dy);
    } else if constexpr (f == Activation::kHardSigmoid) {
      return hard_sigmoid_gradient(x, dy);
    } else if constexpr (f == Activation::kSilu) {
      return silu_gradient(x, dy);
    } else if constexpr (f == Activation::kHardSwish) {
      return hard_swish_gradient(x, dy);
    } else if constexpr (f == Activation::kLeakyRelu) {
      return leaky_relu_gradient(x, dy, numbers.factor);
    } else {
      return numbers.factor * dy;
    }
  }

  // --- max(0, x): NaN stays NaN ---------------------------------------------------------------------------------

  CONVOY_FORMULA static V relu(V x) { return 0.0f > x ? V{} : x; }
  /// Returns dx. `x` may be the ReLU's input or its output: both are above 0 for the same values.
  CONVOY_FORMULA static V relu_gradient(V x, V dy) { return x <= 0.0f ? V{} : dy; }

  /// Returns x if x > 0, else slope * x.
  CONVOY_FORMULA static V leaky_relu(V x, float slope) { return x > 0.0f ? x : slope * x; }
  CONVOY_FORMULA static V leaky_relu_gradient(V x, V dy, float slope) { return x > 0.0f ? dy : slope * dy; }

  // --- x Phi(x) -------------------------------------------------------------------------------------------------

  /// Returns GELU: x Phi(x), where Phi is the normal distribution function. With a = |x|, it is -a Phi(-a) for x < 0,
  /// and x - a Phi(-a) for x > 0, since Phi(x) = 1 - Phi(-x).
  CONVOY_FORMULA static V gelu(V x) {
    const V a = clamped(x, kNormalEnd);
    const Exponential bell = exponential_of_square(a);
    const V within = bell.times(a * mills_ratio(a));
    const V left = a >= kNormalEnd ? V{} : within;
    return (x < 0.0f ? V{} : x) - left;
  }
  /// Returns dx = dy f'(x) of GELU: f'(x) = Phi(x) + x phi(x), phi(x) = exp(-x^2/2) / sqrt(2 pi).
  CONVOY_FORMULA static V gelu_gradient(V x, V dy) {
    constexpr float kInverseRootOfTwoPi = 0x1.988454p-2f;
    const V a = clamped(x, kNormalEnd);
    const Exponential bell = exponential_of_square(a);
    const V tail = bell.times(mills_ratio(a)), slope = a * bell.times(V{} + kInverseRootOfTwoPi);
    const V left = a >= kNormalEnd ? V{} : tail - slope;  // f'(-a) = 1 - f'(a)
    return dy * (x > 0.0f ? 1.0f - left : left);
  }

  // --- 0.5 x (1 + tanh u) = x / (1 + exp(-v))   v = 2 u = 2 sqrt(2/pi) (x + 0.044715 x^3) -------------------------

  /// Returns the tanh approximation of GELU: x / (1 + exp(-v)), v = 2 sqrt(2/pi) (x + 0.044715 x^3). With q =
  /// exp(-|v|), it is -|x| q / (1 + q) for x < 0, and x - |x| q / (1 + q) for x > 0.
  CONVOY_FORMULA static V gelu_tanh(V x) {
    const TanhTerms of = tanh_terms(x);
    return (x < 0.0f ? V{} : x) - of.a * of.q / (1.0f + of.q);
  }
  /// Returns dx = dy f'(x) of gelu_tanh. With s = 1 / (1 + exp(-v)), f'(x) = s + x s (1 - s) v'(x). With q = exp(-|v|),
  /// s = q / (1 + q) and 1 - s = 1 / (1 + q) for x < 0.
  CONVOY_FORMULA static V gelu_tanh_gradient(V x, V dy) {
    const TanhTerms of = tanh_terms(x);
    const V inverse = 1.0f / (1.0f + of.q), s = of.q * inverse;
    const V left = s - of.a * of.slope * (s * inverse);  // f'(-a) = 1 - f'(a)
    return dy * (x > 0.0f ? 1.0f - left : left);
  }

  // --- tanh x ---------------------------------------------------------------------------------------------------

  /// Returns tanh(x). With q = exp(-2|x|) = 2^k (1 + m), |tanh x| = (1 - q) / (1 + q). Near 0, k is 0, and 1 - q is
  /// computed as -m, which loses no digits.
  CONVOY_FORMULA static V tanh(V x) {
    constexpr float kNearZero = 0.17f;  // q is above 1/sqrt(2): 2^k is 1
    const V a = clamped(x, kTanhIsOne);
    const Exponential power = exponential(-2.0f * a, V{});
    const V q = power.times(V{} + 1.0f), size = (a < kNearZero ? -power.m : 1.0f - q) / (1.0f + q);
    const V signed_size = x < 0.0f ? -size : size;
    return x == x ? signed_size : x;
  }
  /// Returns dx = dy (1 - tanh^2 x). With q = exp(-2|x|), 1 - tanh^2 x = 4 q / (1 + q)^2.
  CONVOY_FORMULA static V tanh_gradient(V x, V dy) {
    const V a = clamped(x, kTanhEnds);
    const V q = exponential(-2.0f * a, V{}).times(V{} + 1.0f), sum = 1.0f + q;
    const V slope = a >= kTanhEnds ? V{} : 4.0f * q / (sum * sum);
    return dy * (x == x ? slope : x);
  }

  // --- s(x) = 1 / (1 + exp(-x)), and x s(x) -----------------------------------------------------------------------

  /// Returns s(x). With q = exp(-|x|), it is q / (1 + q) for x < 0, and 1 / (1 + q) for x > 0.
  CONVOY_FORMULA static V sigmoid(V x) {
    const LogisticTerms of = logistic_terms(x);
    const V s = (x < 0.0f ? of.q : V{} + 1.0f) * of.inverse;
    return x == x ? s : x;
  }
  /// Returns dx = dy s'(x). With q = exp(-|x|), s'(x) = s (1 - s) = q / (1 + q)^2.
  CONVOY_FORMULA static V sigmoid_gradient(V x, V dy) {
    const LogisticTerms of = logistic_terms(x);
    const V slope = of.q * of.inverse * of.inverse;
    return dy * (x == x ? slope : x);
  }

  /// Returns x s(x).
  CONVOY_FORMULA static V silu(V x) {
    const LogisticTerms of = logistic_terms(x);
    return (x < 0.0f ? -of.a * of.q : x) * of.inverse;
  }
  /// Returns dx = dy f'(x) of silu: f'(x) = s + x s (1 - s).
  CONVOY_FORMULA static V silu_gradient(V x, V dy) {
    const LogisticTerms of = logistic_terms(x);
    const V s = of.q * of.inverse, left = s - of.a * (s * of.inverse);  // f'(-a) = 1 - f'(a)
    return dy * (x > 0.0f ? 1.0f - left : left);
  }

  // --- min(max(x + 3, 0), 6) / 6, and x times it --------------------------------------------------------------------

  /// Returns min(max(x + 3, 0), 6) / 6: near its zero, x + 3 is exact.
  CONVOY_FORMULA static V hard_sigmoid(V x) {
    const V sum = x + 3.0f, above = 0.0f > sum ? V{} : sum;
    return (above > 6.0f ? V{} + 6.0f : above) * kSixth;
  }
  CONVOY_FORMULA static V hard_sigmoid_gradient(V x, V dy) { return Math::magnitude(x) < 3.0f ? dy * kSixth : V{}; }

  CONVOY_FORMULA static V hard_swish(V x) { return x <= -3.0f ? V{} : x * hard_sigmoid(x); }
  /// Returns dx = dy f'(x) of hard_swish: f'(x) = (2 x + 3) / 6 if |x| < 3.
  CONVOY_FORMULA static V hard_swish_gradient(V x, V dy) {
    const V within = x <= -3.0f ? V{} : dy * ((x + x + 3.0f) * kSixth);
    return x >= 3.0f ? dy : within;
  }

 private:
  static constexpr float kTanhIsOne = 10;    ///< for |x| of at least this, |tanh x| is taken as 1
  static constexpr float kTanhEnds = 40;     ///< for |x| of at least this, tanh'(x), about 4 exp(-80), is taken as 0
  static constexpr float kNormalEnd = 13;    ///< for a of at least this, Phi(-a), below normal numbers, is taken as 0
  static constexpr float kTanhEnd = 9.9f;    ///< for |x| of at least this, exp(-|v|), below exp(-85), is taken as 0
  static constexpr float kLogisticEnd = 87;  ///< for |x| of at least this, exp(-|x|), below 2^-125, is taken as 0
  static constexpr float kSixth = 1.0f / 6;  ///< rounded; 6 times it is 1

  /// Returns min(|x|, end); NaN if x is NaN.
  CONVOY_FORMULA static V clamped(V x, float end) {
    const V size = Math::magnitude(x);
    return size > end ? V{} + end : size;
  }

  /// The terms of sigmoid and silu of x.
  struct LogisticTerms {
    V a;        ///< min(|x|, kLogisticEnd)
    V q;        ///< exp(-a)
    V inverse;  ///< 1 / (1 + q)
  };
  CONVOY_FORMULA static LogisticTerms logistic_terms(V x) {
    const V a = clamped(x, kLogisticEnd), power = exponential(-a, V{}).times(V{} + 1.0f);
    const V q = a >= kLogisticEnd ? V{} : power;
    return {a, q, 1.0f / (1.0f + q)};
  }

  /// The terms of gelu_tanh of x, with v = 2 sqrt(2/pi) (x + 0.044715 x^3).
  struct TanhTerms {
    V a;      ///< min(|x|, kTanhEnd)
    V q;      ///< exp(-|v|), where v = 2 sqrt(2/pi) (x + 0.044715 x^3)
    V slope;  ///< v'(x)
  };

  /// Returns c0 + x (c1 + x (c2 + ...)), with the coefficients c0 = first, c1, c2, ... = rest.
  template <typename... Floats>
  CONVOY_FORMULA static V polynomial(V x, float first, Floats... rest) {
    if constexpr (sizeof...(rest) == 0) {
      return V{} + first;
    } else {
      return Math::multiply_add(x, polynomial(x, rest...), V{} + first);
    }
  }

  /// The number 2^k (1 + m). k is in the lowest 9 bits of the float `exponent`.
  struct Exponential {
    V m, exponent;

    /// Returns 2^k (factor + factor m): the product with `factor`, without rounding 1 + m first. The result is
    /// unspecified if this number is NaN.
    CONVOY_FORMULA V times(V factor) const {
      return Math::add_to_exponent(Math::multiply_add(factor, m, factor), exponent);
    }
  };

  /// Returns exp(high + low), for high in [-87, 0] and a much smaller low, as 2^k exp(r) with |r| <= log(2)/2. exp(r)
  /// is a minimax polynomial with an error of 2^-28. k log(2) is subtracted in two parts, so that k times the first is
  /// exact.
  CONVOY_FORMULA static Exponential exponential(V high, V low) {
    constexpr float kLog2E = 0x1.715476p+0f, kLogOf2 = 0x1.62e4p-1f, kLogOf2Rest = 0x1.7f7d1cp-20f;
    constexpr float kRound = 0x1.8p+23f;  // adding it leaves no bits for fractions
    const V shifted = Math::multiply_add(high, V{} + kLog2E, V{} + kRound), k = shifted - kRound;
    const V rest = Math::multiply_add(k, V{} - kLogOf2, high);
    const V r = Math::multiply_add(k, V{} - kLogOf2Rest, rest) + low;
    const V q = polynomial(r, 0.499999984167f, 0.166665175512f, 0.0416669378449f, 0.00836904862979f, 0.00139051797242f);
    return {Math::multiply_add(r * r, q, r), shifted};
  }

  /// Returns exp(-a^2 / 2).
  CONVOY_FORMULA static Exponential exponential_of_square(V a) {
    const V square = a * a;
    return exponential(-0.5f * square, -0.5f * Math::product_error(a, a, square));
  }

  /// Returns Phi(-a) exp(a^2/2) for a >= 0, as a quotient of polynomials: minimax with an error of 2^-28 for a <= 9. A
  /// larger error does not matter for larger a, since Phi(-9) is 2^-62.
  CONVOY_FORMULA static V mills_ratio(V a) {
    const V p = polynomial(a, 0x1p-1f, 0x1.afdce6p-2f, 0x1.5e96ap-3f, 0x1.2c05fap-5f, 0x1.cf203ep-9f);
    const V q = polynomial(a, 0x1p+0f, 0x1.a4309ep+0f, 0x1.26e8e8p+0f, 0x1.c031bp-2f, 0x1.7814acp-4f, 0x1.2235dap-7f);
    return p / q;
  }

  /// Returns the terms of gelu_tanh of x. |v| = a (c + d a^2), with c = 2 sqrt(2/pi) and d = 0.044715 c, is computed as
  /// a sum of two floats, since an absolute error of v is a relative error of exp(v).
  CONVOY_FORMULA static TanhTerms tanh_terms(V x) {
    constexpr float kC = 0x1.988454p+0f, kCRest = -4.534068e-8f;  // 2 sqrt(2/pi)
    constexpr float kD = 0x1.2444f2p-4f, kDRest = 2.398832e-9f;   // 0.044715 c
    const V a = clamped(x, kTanhEnd);
    const V square = a * a, square_rest = Math::product_error(a, a, square);
    const V cubic = square * kD, cubic_rest = Math::product_error(square, V{} + kD, cubic);
    const V factor = cubic + kC, sum_rest = cubic - (factor - kC);  // what the sum has lost if c is the larger
    const V rest = sum_rest + cubic_rest + Math::multiply_add(square_rest, V{} + kD, square * kDRest) + kCRest;
    const V v = a * factor, v_rest = Math::multiply_add(a, rest, Math::product_error(a, factor, v));
    const V q = exponential(-v, -v_rest).times(V{} + 1.0f);
    return {a, a >= kTanhEnd ? V{} : q, Math::multiply_add(V{} + 3.0f, cubic, V{} + kC)};
  }
};

#undef CONVOY_FORMULA

}  // namespace convoy::ops
