/// The windows of an average pooling along one axis, in the arithmetic of the devices.
#pragma once

#include <cstdint>

#include "convoy/ops/pooling.h"

#include "ops/formula.h"

namespace convoy::ops {

/// An axis with `size` pixels and `count` windows. Int: the type in which a device computes indices.
template <typename Int>
class AverageAxis {
 public:
  /// The indices begin, ..., end - 1.
  struct Indices {
    Int begin, end;
  };

  AverageAxis(const PoolingSpec& spec, std::int64_t size, std::int64_t count)
      : size_(static_cast<Int>(size)),
        count_(static_cast<Int>(count)),
        kernel_(static_cast<Int>(spec.kernel)),
        stride_(static_cast<Int>(spec.stride)),
        padding_(static_cast<Int>(spec.padding)),
        is_adaptive_(spec.is_adaptive()),
        counts_padding_(spec.counts_padding) {}

  static AverageAxis rows(const PoolingSpec& spec) { return {spec, spec.x.h, spec.y().h}; }
  static AverageAxis columns(const PoolingSpec& spec) { return {spec, spec.x.w, spec.y().w}; }

  /// Returns the pixels of a window that are inside the image.
  CONVOY_FORMULA Indices window(Int index) const {
    if (is_adaptive_) return share(index, size_, count_);
    const Int start = index * stride_ - padding_, end = start + kernel_;
    return {start > 0 ? start : 0, end < size_ ? end : size_};
  }

  /// Returns the windows that cover a pixel: of sliding ones those with stride * p - padding <= pixel < stride * p -
  /// padding + kernel. Adaptive windows are covered as they cover: floor(p size / count) <= pixel and pixel <
  /// ceil((p + 1) size / count) give floor(pixel count / size) <= p < ceil((pixel + 1) count / size).
  CONVOY_FORMULA Indices windows_over(Int pixel) const {
    if (is_adaptive_) return share(pixel, count_, size_);
    const Int first = pixel + padding_ - kernel_ + stride_, end = (pixel + padding_) / stride_ + 1;
    return {first > 0 ? first / stride_ : 0, end < count_ ? end : count_};
  }

  /// Returns the number of pixels of a window that its mean counts.
  CONVOY_FORMULA Int counted(Int index) const {
    if (counts_padding_) return kernel_;
    const Indices inside = window(index);
    return inside.end - inside.begin;
  }

 private:
  /// Returns part `index` of `total` indices in `parts` parts, which overlap if `parts` does not divide `total`.
  CONVOY_FORMULA static Indices share(Int index, Int total, Int parts) {
    const std::int64_t begin = std::int64_t{index} * total;
    return {static_cast<Int>(begin / parts), static_cast<Int>((begin + total + parts - 1) / parts)};
  }

  Int size_, count_, kernel_, stride_, padding_;
  bool is_adaptive_, counts_padding_;
};

}  // namespace convoy::ops
