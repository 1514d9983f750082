/// Parameter-free shortcuts in plain loops: the oracle of ShortcutOp.
#pragma once

#include "convoy/ops/shortcut.h"

#include "reference/array.h"

namespace convoy::reference {

/// Calls body(x's index, y's index) for every value of x that is part of y.
template <typename Body>
void for_each_value_taken(const ops::ShortcutSpec& spec, Body&& body) {
  const Shape x = spec.x, y = spec.y();
  for (std::int64_t n = 0; n < y.n; ++n)
    for (std::int64_t p = 0; p < y.h; ++p)
      for (std::int64_t q = 0; q < y.w; ++q)
        for (std::int64_t c = 0; c < x.c; ++c) {
          body(index(((n * x.h + p * spec.stride) * x.w + q * spec.stride) * x.c + c),
               index(((n * y.h + p) * y.w + q) * y.c + spec.channels_before + c));
        }
}

inline Array shortcut(const ops::ShortcutSpec& spec, const Array& x) {
  Array y(index(spec.y().count()));
  for_each_value_taken(spec, [&](std::size_t ix, std::size_t iy) { y[iy] = x[ix]; });
  return y;
}

/// Returns dx plus the shortcut's gradient.
inline Array shortcut_gradient(const ops::ShortcutSpec& spec, const Array& dy, Array dx) {
  for_each_value_taken(spec, [&](std::size_t ix, std::size_t iy) { dx[ix] += dy[iy]; });
  return dx;
}

}  // namespace convoy::reference
