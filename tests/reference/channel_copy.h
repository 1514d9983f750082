/// Copies of channels in plain loops: the oracle of ChannelCopyOp.
#pragma once

#include "convoy/ops/channel_copy.h"

#include "reference/array.h"

namespace convoy::reference {

/// Calls body(x's index, y's index) for every value that is copied.
template <typename Body>
void for_each_value_copied(const ops::ChannelCopySpec& spec, Body&& body) {
  const Shape x = spec.x, y = spec.y();
  for (std::int64_t n = 0; n < y.n; ++n)
    for (std::int64_t p = 0; p < y.h; ++p)
      for (std::int64_t q = 0; q < y.w; ++q)
        for (std::int64_t i = 0; i < spec.count; ++i) {
          body(index(((n * x.h + p * spec.stride) * x.w + q * spec.stride) * x.c + spec.x_first + i),
               index(((n * y.h + p) * y.w + q) * y.c + spec.y_first + i));
        }
}

/// Returns y; `rest` holds its values before, which stay if spec.keeps_rest.
inline Array channel_copy(const ops::ChannelCopySpec& spec, const Array& x, const Array& rest) {
  Array y = spec.keeps_rest ? rest : Array(rest.size());
  for_each_value_copied(spec, [&](std::size_t ix, std::size_t iy) { y[iy] = x[ix]; });
  return y;
}

/// Returns dx + the gradient.
inline Array channel_copy_gradient(const ops::ChannelCopySpec& spec, const Array& dy, Array dx) {
  for_each_value_copied(spec, [&](std::size_t ix, std::size_t iy) { dx[ix] += dy[iy]; });
  return dx;
}

}  // namespace convoy::reference
