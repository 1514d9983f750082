/// The windows of a pooling: the pixels of a window, and the windows that cover a pixel.
#pragma once

#include <algorithm>
#include <cstdint>

#include "convoy/ops/pooling.h"

#include "ops/cpu/parallel.h"

namespace convoy::ops::cpu {

namespace {

/// A window along one axis. It begins at `start`, which may be outside the image; its pixels begin, ..., end - 1 are
/// inside the image.
struct Span {
  std::int64_t start, begin, end;
};

struct PoolingGeometry {
  explicit PoolingGeometry(const PoolingSpec& spec)
      : x(spec.x), y(spec.y()), kernel(spec.kernel), stride(spec.stride), padding(spec.padding) {}

  Shape x, y;
  std::int64_t kernel, stride, padding;

  std::int64_t x_at(std::int64_t n, std::int64_t h, std::int64_t w) const { return ((n * x.h + h) * x.w + w) * x.c; }
  std::int64_t y_at(std::int64_t n, std::int64_t p, std::int64_t q) const { return ((n * y.h + p) * y.w + q) * y.c; }

  /// Returns window `index` along an axis of `size` pixels.
  Span window(std::int64_t index, std::int64_t size) const {
    const std::int64_t start = index * stride - padding;
    return {start, std::max<std::int64_t>(start, 0), std::min(start + kernel, size)};
  }

  /// Returns the index of pixel (h, w) in window (p, q), whose pixels are counted row by row.
  std::int32_t position(std::int64_t h, std::int64_t w, std::int64_t p, std::int64_t q) const {
    return static_cast<std::int32_t>((h - (p * stride - padding)) * kernel + w - (q * stride - padding));
  }

  /// Returns the windows p that cover pixel `index` along an axis with `count` windows:
  /// p * stride - padding <= index < p * stride - padding + kernel.
  Range windows_over(std::int64_t index, std::int64_t count) const {
    const std::int64_t first = std::max<std::int64_t>(index + padding - kernel + stride, 0) / stride;
    return {first, std::min((index + padding) / stride + 1, count)};
  }
};

}  // namespace

}  // namespace convoy::ops::cpu
