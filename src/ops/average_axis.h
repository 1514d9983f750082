/// The windows of an average pooling along one axis, in the arithmetic of the devices.
#pragma once

#include <cstdint>

#include "convoy/ops/pooling.h"

#include "ops/formula.h"

namespace convoy::ops {

/// An axis with `size` pixels and `count` windows, adaptive ones or sliding ones. Int: the type in which a device
/// computes indices.
template <typename Int, bool kAdaptive>
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
        counted_begin_(spec.counts_padding ? -padding_ : 0),
        counted_end_(spec.counts_padding ? size_ + padding_ : size_) {}

  static AverageAxis rows(const PoolingSpec& spec) { return {spec, spec.x.h, spec.y().h}; }
  static AverageAxis columns(const PoolingSpec& spec) { return {spec, spec.x.w, spec.y().w}; }

  /// Returns the pixels of a window that are inside the image.
  CONVOY_FORMULA Indices window(Int index) const {
    if constexpr (kAdaptive) return share(index, size_, count_);
    return part_of_window(index, 0, size_);
  }

  /// Returns the windows that cover a pixel. A sliding window p covers it if stride p - padding <= pixel < stride p -
  /// padding + kernel. An adaptive one covers it if floor(p size / count) <= pixel < ceil((p + 1) size / count), and
  /// that is floor(pixel count / size) <= p < ceil((pixel + 1) count / size).
  CONVOY_FORMULA Indices windows_over(Int pixel) const {
    if constexpr (kAdaptive) return share(pixel, count_, size_);
    const Int first = pixel + padding_ - kernel_ + stride_, end = (pixel + padding_) / stride_ + 1;
    return {first > 0 ? first / stride_ : 0, end < count_ ? end : count_};
  }

  /// Returns the number of pixels of a window that its mean counts.
  CONVOY_FORMULA Int counted(Int index) const {
    const Indices part = kAdaptive ? window(index) : part_of_window(index, counted_begin_, counted_end_);
    return part.end - part.begin;
  }

 private:
  /// Returns the pixels begin, ..., end - 1 of a sliding window.
  CONVOY_FORMULA Indices part_of_window(Int index, Int begin, Int end) const {
    const Int start = index * stride_ - padding_, stop = start + kernel_;
    return {start > begin ? start : begin, stop < end ? stop : end};
  }

  /// Returns part `index` of `total` indices, which are divided into `parts` parts. Neighbouring parts share an index
  /// if `parts` does not divide `total`.
  CONVOY_FORMULA static Indices share(Int index, Int total, Int parts) {
    const Int begin = index * total;
    return {begin / parts, (begin + total + parts - 1) / parts};
  }

  Int size_, count_, kernel_, stride_, padding_;
  Int counted_begin_, counted_end_;  ///< a mean counts these pixels: those of the image, or the padding, too
};

}  // namespace convoy::ops
