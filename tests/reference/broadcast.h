/// A vector that is added to every row or multiplies it, in plain loops: the oracle of BroadcastOp.
#pragma once

#include <cmath>

#include "convoy/ops/broadcast.h"

#include "reference/array.h"

namespace convoy::reference {

inline Array broadcast(const ops::BroadcastSpec& spec, const Array& x, const Array& v) {
  Array y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double with = v[i % index(spec.num_columns)];
    y[i] = spec.kind == ops::BroadcastKind::kAdd ? x[i] + with : x[i] * with;
  }
  return y;
}

struct BroadcastGradient {
  Array dx, dv;
  Array scale_of_dv;  ///< sums of absolute values, the unit of rounding errors of dv
};

inline BroadcastGradient broadcast_gradient(const ops::BroadcastSpec& spec, const Array& x, const Array& v,
                                            const Array& dy) {
  const bool adds = spec.kind == ops::BroadcastKind::kAdd;
  BroadcastGradient result{
      .dx = Array(x.size()), .dv = Array(index(spec.num_columns)), .scale_of_dv = Array(index(spec.num_columns))};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % index(spec.num_columns);
    const double term = dy[i] * (adds ? 1 : x[i]);
    result.dx[i] = dy[i] * (adds ? 1 : v[c]);
    result.dv[c] += term;
    result.scale_of_dv[c] += std::abs(term);
  }
  return result;
}

}  // namespace convoy::reference
