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

#include "ops/formula.h"

namespace convoy::ops {

template <typename Math>
struct ActivationMath {
  using V = typename Math::V;

  // --- max(0, x): NaN stays NaN ---------------------------------------------------------------------------------

  CONVOY_FORMULA static V relu(V x) { return 0.0f > x ? V{} : x; }
  /// Returns dx. `x` may be the ReLU's input or its output: both are above 0 for the same values.
  CONVOY_FORMULA static V relu_gradient(V x, V dy) { return x <= 0.0f ? V{} : dy; }

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

 private:
  static constexpr float kTanhIsOne = 10;  ///< for |x| of at least this, |tanh x| is taken as 1
  static constexpr float kTanhEnds = 40;   ///< for |x| of at least this, tanh'(x), about 4 exp(-80), is taken as 0
  static constexpr float kNormalEnd = 13;  ///< for a of at least this, Phi(-a), below normal numbers, is taken as 0
  static constexpr float kTanhEnd = 9.9f;  ///< for |x| of at least this, exp(-|v|), below exp(-85), is taken as 0

  /// Returns min(|x|, end); NaN if x is NaN.
  CONVOY_FORMULA static V clamped(V x, float end) {
    const V size = Math::magnitude(x);
    return size > end ? V{} + end : size;
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
