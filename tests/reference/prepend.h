/// A word before each sequence, in plain loops: the oracle of PrependOp.
#pragma once

#include <cmath>

#include "convoy/ops/prepend.h"

#include "reference/array.h"

namespace convoy::reference {

inline Array prepend(const ops::PrependSpec& spec, const Array& x, const Array& token) {
  Array y;
  for (std::int64_t n = 0; n < spec.n; ++n) {
    y.insert(y.end(), token.begin(), token.end());
    for (std::int64_t i = 0; i < spec.length * spec.width; ++i) y.push_back(x[index(n * spec.length * spec.width + i)]);
  }
  return y;
}

struct PrependGradient {
  Array dx, dtoken;
  Array scale_of_dtoken;  ///< sums of absolute values, the unit of rounding errors of dtoken
};

inline PrependGradient prepend_gradient(const ops::PrependSpec& spec, const Array& dy) {
  PrependGradient result{.dx = {}, .dtoken = Array(index(spec.width)), .scale_of_dtoken = Array(index(spec.width))};
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const std::size_t word = i / index(spec.width) % index(spec.length + 1), c = i % index(spec.width);
    if (word > 0) {
      result.dx.push_back(dy[i]);
    } else {
      result.dtoken[c] += dy[i];
      result.scale_of_dtoken[c] += std::abs(dy[i]);
    }
  }
  return result;
}

}  // namespace convoy::reference
