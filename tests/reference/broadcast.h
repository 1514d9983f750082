/// Vectors that are added to rows or multiply them, in plain loops: the oracle of BroadcastOp.
#pragma once

#include <cmath>

#include "convoy/ops/broadcast.h"

#include "reference/array.h"

namespace convoy::reference {

/// The index of the value of v that belongs to value i of x.
inline std::size_t index_in_vectors(const ops::BroadcastSpec& spec, std::size_t i) {
  const std::size_t width = index(spec.num_columns), rows_of_vector = index(spec.num_rows / spec.num_vectors);
  return i / width / rows_of_vector * width + i % width;
}

inline Array broadcast(const ops::BroadcastSpec& spec, const Array& x, const Array& v) {
  Array y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double with = v[index_in_vectors(spec, i)];
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
  BroadcastGradient result{.dx = Array(x.size()), .dv = Array(v.size()), .scale_of_dv = Array(v.size())};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = index_in_vectors(spec, i);
    const double term = dy[i] * (adds ? 1 : x[i]);
    result.dx[i] = dy[i] * (adds ? 1 : v[c]);
    result.dv[c] += term;
    result.scale_of_dv[c] += std::abs(term);
  }
  return result;
}

}  // namespace convoy::reference
