/// Words taken out of sequences in plain loops: the oracle of GatherOp.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/ops/gather.h"

#include "reference/array.h"

namespace convoy::reference {

/// Calls body(x's index, y's index) for every value that is taken. Without positions these are the first words.
template <typename Body>
void for_each_taken(const ops::GatherSpec& spec, const std::vector<std::int32_t>& positions, Body&& body) {
  for (std::int64_t n = 0; n < spec.n; ++n) {
    for (std::int64_t k = 0; k < spec.num_taken; ++k) {
      const std::int64_t i = n * spec.num_taken + k, t = positions.empty() ? k : positions[index(i)];
      if (t == ops::kNoPosition) continue;
      for (std::int64_t c = 0; c < spec.width; ++c)
        body(index((n * spec.length + t) * spec.width + c), index(i * spec.width + c));
    }
  }
}

inline Array gather(const ops::GatherSpec& spec, const std::vector<std::int32_t>& positions, const Array& x) {
  Array y(index(spec.n * spec.num_taken * spec.width));
  for_each_taken(spec, positions, [&](std::size_t ix, std::size_t iy) { y[iy] = x[ix]; });
  return y;
}

inline Array gather_gradient(const ops::GatherSpec& spec, const std::vector<std::int32_t>& positions, const Array& dy) {
  Array dx(index(spec.n * spec.length * spec.width));
  for_each_taken(spec, positions, [&](std::size_t ix, std::size_t iy) { dx[ix] += dy[iy]; });
  return dx;
}

}  // namespace convoy::reference
