/// Pooling in plain loops: the oracle of MaxPoolOp, AveragePoolOp and GlobalAveragePoolOp.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/ops/pooling.h"

#include "reference/array.h"

namespace convoy::reference {

/// Whether window `index` of `count` covers pixel `pixel` of `size` along an axis, if windows are adaptive:
/// floor(index size / count) <= pixel < ceil((index + 1) size / count), in exact arithmetic.
inline bool adaptive_window_covers(std::int64_t index, std::int64_t pixel, std::int64_t size, std::int64_t count) {
  return index * size < (pixel + 1) * count && pixel * count < (index + 1) * size;
}

/// Calls body(x's index, y's index, index in the window) for every pixel of every window that is inside the image. (The
/// index in an adaptive window is 0.)
template <typename Body>
void for_each_window_pixel(const ops::PoolingSpec& spec, Body&& body) {
  const Shape x = spec.x, y = spec.y();
  if (spec.is_adaptive()) {
    for (std::int64_t i = 0; i < x.count(); ++i)
      for (std::int64_t p = 0; p < y.h; ++p)
        for (std::int64_t q = 0; q < y.w; ++q) {
          const std::int64_t c = i % x.c, w = i / x.c % x.w, h = i / x.c / x.w % x.h, n = i / x.c / x.w / x.h;
          if (adaptive_window_covers(p, h, x.h, y.h) && adaptive_window_covers(q, w, x.w, y.w))
            body(index(i), index(((n * y.h + p) * y.w + q) * y.c + c), std::int64_t{0});
        }
    return;
  }
  for (std::int64_t n = 0; n < y.n; ++n)
    for (std::int64_t p = 0; p < y.h; ++p)
      for (std::int64_t q = 0; q < y.w; ++q)
        for (std::int64_t c = 0; c < y.c; ++c)
          for (std::int64_t r = 0; r < spec.kernel; ++r)
            for (std::int64_t s = 0; s < spec.kernel; ++s) {
              const std::int64_t h = p * spec.stride - spec.padding + r, w = q * spec.stride - spec.padding + s;
              if (h < 0 || h >= x.h || w < 0 || w >= x.w) continue;
              body(index(((n * x.h + h) * x.w + w) * x.c + c), index(((n * y.h + p) * y.w + q) * y.c + c),
                   r * spec.kernel + s);
            }
}

struct MaxPoolResult {
  Array y;
  std::vector<std::uint8_t> winner;
};

inline MaxPoolResult max_pool(const ops::PoolingSpec& spec, const Array& x) {
  MaxPoolResult result{Array(index(spec.y().count())), std::vector<std::uint8_t>(index(spec.y().count()))};
  std::vector<bool> seen(result.y.size());
  for_each_window_pixel(spec, [&](std::size_t ix, std::size_t iy, std::int64_t position) {
    if (seen[iy] && !(x[ix] > result.y[iy])) return;
    seen[iy] = true;
    result.y[iy] = x[ix];
    result.winner[iy] = static_cast<std::uint8_t>(position);
  });
  return result;
}

inline Array max_pool_gradient(const ops::PoolingSpec& spec, const std::vector<std::uint8_t>& winner, const Array& dy) {
  Array dx(index(spec.x.count()));
  for_each_window_pixel(spec, [&](std::size_t ix, std::size_t iy, std::int64_t position) {
    if (winner[iy] == position) dx[ix] += dy[iy];
  });
  return dx;
}

/// Returns the number of pixels of every window that its mean counts.
inline Array window_sizes(const ops::PoolingSpec& spec) {
  Array sizes(index(spec.y().count()));
  if (spec.counts_padding) {
    sizes.assign(sizes.size(), static_cast<double>(spec.kernel * spec.kernel));
    return sizes;
  }
  for_each_window_pixel(spec, [&](std::size_t, std::size_t iy, std::int64_t) { sizes[iy] += 1; });
  return sizes;
}

inline Array average_pool(const ops::PoolingSpec& spec, const Array& x) {
  const Array sizes = window_sizes(spec);
  Array y(sizes.size());
  for_each_window_pixel(spec, [&](std::size_t ix, std::size_t iy, std::int64_t) { y[iy] += x[ix] / sizes[iy]; });
  return y;
}

inline Array average_pool_gradient(const ops::PoolingSpec& spec, const Array& dy) {
  const Array sizes = window_sizes(spec);
  Array dx(index(spec.x.count()));
  for_each_window_pixel(spec, [&](std::size_t ix, std::size_t iy, std::int64_t) { dx[ix] += dy[iy] / sizes[iy]; });
  return dx;
}

inline Array global_average_pool(const Shape& x_shape, const Array& x) {
  const std::int64_t pixels = x_shape.h * x_shape.w;
  Array y(index(x_shape.n * x_shape.c));
  for (std::int64_t i = 0; i < x_shape.count(); ++i) {
    const std::int64_t n = i / (pixels * x_shape.c), c = i % x_shape.c;
    y[index(n * x_shape.c + c)] += x[index(i)] / static_cast<double>(pixels);
  }
  return y;
}

inline Array global_average_pool_gradient(const Shape& x_shape, const Array& dy) {
  const std::int64_t pixels = x_shape.h * x_shape.w;
  Array dx(index(x_shape.count()));
  for (std::int64_t i = 0; i < x_shape.count(); ++i) {
    const std::int64_t n = i / (pixels * x_shape.c), c = i % x_shape.c;
    dx[index(i)] = dy[index(n * x_shape.c + c)] / static_cast<double>(pixels);
  }
  return dx;
}

}  // namespace convoy::reference
