/// The contract of the operation that makes a network's input from stored bytes: crop, flip, normalise and round in one
/// pass.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"
#include "convoy/params/choices.h"

namespace convoy::ops {

inline constexpr int kNumBytes = 256;  ///< number of different values of a byte

struct ImageBatchSpec {
  Shape x;                      ///< shape of the network's input, (N,H,W,C)
  std::vector<float> value_of;  ///< (C,256) the normalised value for each channel and byte
  DataType type = DataType::kFloat32;
  BorderKind border = BorderKind::kBlack;
};

inline constexpr std::int32_t kToTheEnd = std::numeric_limits<std::int32_t>::max();

/// The mixing of an image with another image of the micro-batch, its partner (Mixup, CutMix). In rows [top, bottom) and
/// columns [left, right), a value of the output is (1 - share) * own value + share * partner's value. Elsewhere it is
/// the own value.
struct ImageMix {
  std::int32_t partner = 0;  ///< index of the partner in the micro-batch
  float share = 0;           ///< share of the partner, in [0, 1]; 0: nothing is mixed; 1: the partner's values, exactly
  /// Range of the output's rows and columns that is mixed; default: all.
  std::int32_t top = 0, bottom = kToTheEnd, left = 0, right = kToTheEnd;
};

/// The crop of one image: out(h, w) = image(h + dy, flip ? W - 1 - w + dx : w + dx). Pixels outside the image come from
/// the border that ImageBatchSpec::border asks for. Values in the hole (Cutout) are 0.
struct ImageCut {
  std::int32_t dy = 0, dx = 0;  ///< shift in pixels; with BorderKind::kReflect, |dy| < H and |dx| < W
  std::int32_t flip = 0;        ///< 1: columns are mirrored
  std::int32_t is_padding = 0;  ///< 1: padding of the last micro-batch, an image whose bytes all count as 0
  /// The hole, whose values are 0: rows [hole_top, hole_bottom) and columns [hole_left, hole_right) of the output.
  std::int32_t hole_top = 0, hole_bottom = 0, hole_left = 0, hole_right = 0;
  ImageMix mix;
};

/// Returns the index of the pixel that BorderKind::kReflect shows at `position`, which is at most count - 1 outside of
/// 0..count - 1. The result is in 0..count - 1.
constexpr std::int64_t reflected(std::int64_t position, std::int64_t count) {
  return position < 0 ? -position : position >= count ? 2 * (count - 1) - position : position;
}

/// Makes a network's input from stored bytes: x[n,h,w,c] = value_of[c, byte], mixed in float32 as ImageMix describes,
/// rounded to spec.type.
class ImageBatchOp {
 public:
  using Spec = ImageBatchSpec;
  static constexpr const char* kName = "batch of images";

  virtual ~ImageBatchOp() = default;

  /// Overwrites x. images (N,H,W,C) and cuts (N) are in device memory.
  virtual void run(const std::uint8_t* images, const ImageCut* cuts, void* x) = 0;
};

}  // namespace convoy::ops
