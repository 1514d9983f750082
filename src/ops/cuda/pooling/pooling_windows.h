/// Windows of a pooling, the maximum of a window, and the gradient of a pixel: the sum of dy over the windows whose
/// maximum it is.
#pragma once

#include <cstdint>
#include <limits>

#include "convoy/ops/pooling.h"

#include "ops/cuda/element.h"
#include "ops/cuda/image_extents.h"

namespace convoy::ops::cuda {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// A window along one axis. It begins at `start`, which may be outside the image; its pixels begin, ..., end - 1 are
/// inside the image. It can also be a range of windows begin, ..., end - 1.
struct Span {
  int start, begin, end;
};

struct PoolingGeometry {
  explicit PoolingGeometry(const PoolingSpec& spec)
      : x(spec.x),
        y(spec.y()),
        kernel(static_cast<int>(spec.kernel)),
        stride(static_cast<int>(spec.stride)),
        padding(static_cast<int>(spec.padding)) {}

  ImageExtents x, y;
  int kernel, stride, padding;

  __device__ Span window(int index, int size) const {
    const int start = index * stride - padding;
    return {start, max(start, 0), min(start + kernel, size)};
  }

  /// Returns the windows p that cover pixel `index` along an axis with `count` windows:
  /// p * stride - padding <= index < p * stride - padding + kernel.
  __device__ Span windows_over(int index, int count) const {
    const int first = max(index + padding - kernel + stride, 0) / stride;
    return {first, first, min((index + padding) / stride + 1, count)};
  }

  /// Whether at most two windows cover a pixel along each axis.
  bool has_at_most_two_windows() const { return kernel <= 2 * stride; }
};

/// The maximum of a window for each of kWidth channels, and its index in the window, row * kernel + column.
template <int kWidth>
struct Maximum {
  float value[kWidth];
  int position[kWidth];

  /// Finds the maxima of window (row, column); of equal values, the first in row-major order. load_pixel(h, w, v) loads
  /// the values of a pixel. kKernel is the window's size, so that all loads of a thread are in flight at once; 0: the
  /// size is g.kernel.
  template <int kKernel, typename LoadPixel>
  __device__ void find_in(const PoolingGeometry& g, int row, int column, LoadPixel&& load_pixel) {
    const int kernel = kKernel > 0 ? kKernel : g.kernel;
    const Span rows = g.window(row, g.x.h), columns = g.window(column, g.x.w);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      value[i] = -kInfinity;
      position[i] = (rows.begin - rows.start) * kernel + columns.begin - columns.start;
    }
#pragma unroll(kKernel > 0 ? kKernel : 1)
    for (int r = 0; r < kernel; ++r) {
#pragma unroll(kKernel > 0 ? kKernel : 1)
      for (int s = 0; s < kernel; ++s) {
        const int h = rows.start + r, w = columns.start + s;
        if (h < 0 || h >= g.x.h || w < 0 || w >= g.x.w) continue;
        float v[kWidth];
        load_pixel(h, w, v);
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          const bool wins = v[i] > value[i] || v[i] != v[i];  // NaN wins, and is never beaten
          value[i] = wins ? v[i] : value[i];
          position[i] = wins ? r * kernel + s : position[i];
        }
      }
    }
  }
};

/// Computes the sum of dy over the windows whose maximum is the given pixel, in row-major order, for kWidth channels
/// from c on. `winner` has the index of each window's maximum. kWindows is the largest number of windows that cover a
/// pixel along an axis; 0: any number.
template <int kWindows, int kWidth, typename T>
__device__ void sum_won_gradients(const PoolingGeometry& g, int image, int row, int column, int c, const T* dy,
                                  const std::uint8_t* winner, float (&sum)[kWidth]) {
  const Span rows = g.windows_over(row, g.y.h), columns = g.windows_over(column, g.y.w);
  const int num_rows = kWindows > 0 ? kWindows : rows.end - rows.begin;
  const int num_columns = kWindows > 0 ? kWindows : columns.end - columns.begin;
#pragma unroll
  for (int k = 0; k < kWidth; ++k) sum[k] = 0;
#pragma unroll(kWindows > 0 ? kWindows : 1)
  for (int i = 0; i < num_rows; ++i) {
#pragma unroll(kWindows > 0 ? kWindows : 1)
    for (int j = 0; j < num_columns; ++j) {
      const int p = rows.begin + i, q = columns.begin + j;
      if (p >= rows.end || q >= columns.end) continue;
      const std::int64_t from = g.y.at(image, p, q) + c;
      const int position = (row - (p * g.stride - g.padding)) * g.kernel + column - (q * g.stride - g.padding);
      const auto positions = *reinterpret_cast<const Pack<std::uint8_t, kWidth>*>(winner + from);
      float v[kWidth];
      load<kWidth>(dy + from, v);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) sum[k] += positions.values[k] == position ? v[k] : 0.0f;
    }
  }
}

/// Stores kWidth numbers as bytes. Each number must be in 0..255.
template <int kWidth>
__device__ void store_bytes(const int (&from)[kWidth], std::uint8_t* to) {
  Pack<std::uint8_t, kWidth> bytes;
#pragma unroll
  for (int i = 0; i < kWidth; ++i) bytes.values[i] = static_cast<std::uint8_t>(from[i]);
  *reinterpret_cast<Pack<std::uint8_t, kWidth>*>(to) = bytes;
}

}  // namespace

}  // namespace convoy::ops::cuda
