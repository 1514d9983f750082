/// Cutting, normalising and mixing images in plain loops: the oracle of ImageBatchOp.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "convoy/ops/image_batch.h"

#include "reference/array.h"

namespace convoy::reference {

/// Returns the pixel that is seen at a position at most count - 1 outside of 0..count - 1.
inline std::int64_t reflected(std::int64_t position, std::int64_t count) {
  const std::int64_t last = count - 1;
  return last - std::abs(last - std::abs(position));
}

/// Returns x before it is rounded.
inline Array image_batch(const ops::ImageBatchSpec& spec, const std::vector<std::uint8_t>& images,
                         const std::vector<ops::ImageCut>& cuts) {
  const Shape s = spec.x;
  Array x;
  for (std::int64_t n = 0; n < s.n; ++n) {
    const ops::ImageCut& cut = cuts[index(n)];
    for (std::int64_t h = 0; h < s.h; ++h) {
      for (std::int64_t w = 0; w < s.w; ++w) {
        std::int64_t row = h + cut.dy, column = (cut.flip != 0 ? s.w - 1 - w : w) + cut.dx;
        if (spec.border == BorderKind::kReflect) {
          row = reflected(row, s.h);
          column = reflected(column, s.w);
        }
        const bool inside = row >= 0 && row < s.h && column >= 0 && column < s.w;
        for (std::int64_t c = 0; c < s.c; ++c) {
          const std::uint8_t byte =
              inside && cut.is_padding == 0 ? images[index(((n * s.h + row) * s.w + column) * s.c + c)] : 0;
          const bool hole = h >= cut.hole_top && h < cut.hole_bottom && w >= cut.hole_left && w < cut.hole_right;
          x.push_back(hole ? 0.0 : static_cast<double>(spec.value_of[index(c * 256 + byte)]));
        }
      }
    }
  }
  // An image is mixed with its partner as the partner is before it is mixed itself.
  const std::int64_t count = s.h * s.w * s.c;
  const Array plain = x;
  for (std::int64_t n = 0; n < s.n; ++n) {
    const ops::ImageMix mix = cuts[index(n)].mix;
    const double share = mix.share;
    for (std::int64_t i = 0; i < count && share > 0; ++i) {
      const std::int64_t h = i / s.c / s.w, w = i / s.c % s.w;
      if (h < mix.top || h >= mix.bottom || w < mix.left || w >= mix.right) continue;
      x[index(n * count + i)] = (1 - share) * x[index(n * count + i)] + share * plain[index(mix.partner * count + i)];
    }
  }
  return x;
}

}  // namespace convoy::reference
