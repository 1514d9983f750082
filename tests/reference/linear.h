/// The fully connected layer in plain loops: the oracle of LinearOp.
#pragma once

#include "convoy/ops/linear.h"

#include "reference/array.h"

namespace convoy::reference {

/// Calls body(x's index, w's index, y's index) for every product.
template <typename Body>
void for_each_product(const ops::LinearSpec& spec, Body&& body) {
  for (std::int64_t n = 0; n < spec.n; ++n)
    for (std::int64_t k = 0; k < spec.num_outputs; ++k)
      for (std::int64_t c = 0; c < spec.num_inputs; ++c) {
        body(index(n * spec.num_inputs + c), index(k * spec.num_inputs + c), index(n * spec.num_outputs + k));
      }
}

inline Array linear(const ops::LinearSpec& spec, const Array& x, const Array& w, const Array& b) {
  Array y(index(spec.n * spec.num_outputs));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = b[i % b.size()];
  for_each_product(spec, [&](std::size_t ix, std::size_t iw, std::size_t iy) { y[iy] += x[ix] * w[iw]; });
  return y;
}

struct LinearGradient {
  Array dx, dw, db;
};

inline LinearGradient linear_gradient(const ops::LinearSpec& spec, const Array& x, const Array& w, const Array& dy) {
  LinearGradient result{Array(x.size()), Array(w.size()), Array(index(spec.num_outputs))};
  for_each_product(spec, [&](std::size_t ix, std::size_t iw, std::size_t iy) {
    result.dx[ix] += dy[iy] * w[iw];
    result.dw[iw] += dy[iy] * x[ix];
  });
  for (std::size_t i = 0; i < dy.size(); ++i) result.db[i % result.db.size()] += dy[i];
  return result;
}

}  // namespace convoy::reference
