/// Softmax by its definition in double: the oracle of SoftmaxOp.
#pragma once

#include <algorithm>
#include <cmath>

#include "convoy/ops/softmax.h"

#include "reference/array.h"

namespace convoy::reference {

inline Array softmax(const ops::SoftmaxSpec& spec, const Array& x) {
  Array y(x.size());
  const auto width = static_cast<std::ptrdiff_t>(spec.width);
  for (auto row = x.begin(); row != x.end(); row += width) {
    const double max = *std::max_element(row, row + width);
    double sum = 0;
    for (auto value = row; value != row + width; ++value) sum += std::exp(*value - max);
    std::transform(row, row + width, y.begin() + (row - x.begin()),
                   [&](double value) { return std::exp(value - max) / sum; });
  }
  return y;
}

/// Returns dx = y (dy - sum of dy y), and the sums of |dy y| of rows: the units of rounding errors.
struct SoftmaxGradient {
  Array dx, scale_of_sum;
};
inline SoftmaxGradient softmax_gradient(const ops::SoftmaxSpec& spec, const Array& y, const Array& dy) {
  SoftmaxGradient result{Array(y.size()), Array(index(spec.num_rows))};
  Array sums(index(spec.num_rows));
  for (std::size_t i = 0; i < y.size(); ++i) {
    sums[i / index(spec.width)] += dy[i] * y[i];
    result.scale_of_sum[i / index(spec.width)] += std::abs(dy[i] * y[i]);
  }
  for (std::size_t i = 0; i < y.size(); ++i) result.dx[i] = y[i] * (dy[i] - sums[i / index(spec.width)]);
  return result;
}

}  // namespace convoy::reference
