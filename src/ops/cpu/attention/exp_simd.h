/// Powers of two in vectors of floats. Apart from matrix products, they take most of the time of attention's softmax.
/// Include it, as simd.h, only in files that are compiled with -march=CONVOY_ARCH.
#pragma once

#include <bit>

#include "ops/cpu/lanes_simd.h"

namespace convoy::ops::cpu {

/// Returns 2^x in each lane, with an error of at most 2 units in the last place. x must be at most 127. For x below
/// -125 the result is 2^-125, and for NaN it is NaN. 2^x = 2^(n-1) 2^(r+1) with n the integer next to x: adding
/// 1.5 * 2^23 + 126 leaves the exponent of 2^(n-1) in the lowest bits of the sum, and r in [-1/2, 1/2] is exact.
/// 2^(r+1) is a polynomial of degree 6 from Remez' algorithm, with a relative error of 2.6e-9. The product is exact,
/// and keeps a NaN, whose bits give any factor.
[[gnu::always_inline]] inline Vec power_of_2(Vec x) {
  constexpr float kRounder = 0x1.8p23f, kBias = 126.0f;
  x = larger(Vec{} - 125.0f, x);
  const Vec shifted = x + (kRounder + kBias), r = x - (shifted - (kRounder + kBias));
  Vec p = Vec{} + 2 * 1.55946776e-4f;
  p = p * r + 2 * 1.34066439e-3f;
  p = p * r + 2 * 9.61769297e-3f;
  p = p * r + 2 * 5.55031055e-2f;
  p = p * r + 2 * 2.40226528e-1f;
  p = p * r + 2 * 6.93147215e-1f;
  p = p * r + 2.0f;
  return p * std::bit_cast<Vec>(std::bit_cast<WordVec>(shifted) << 23);
}

}  // namespace convoy::ops::cpu
