/// The contract of turning stored bytes into a network's input: crop, flip, normalise and round in one pass.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"
#include "convoy/params/parameters.h"

namespace convoy::ops {

inline constexpr int kNumBytes = 256;  ///< values of a byte

struct ImageBatchSpec {
  Shape x;                      ///< (N,H,W,C)
  std::vector<float> value_of;  ///< (C,256): what a byte becomes
  DataType type = DataType::kFloat32;
  BorderKind border = BorderKind::kBlack;
};

inline constexpr std::int32_t kToTheEnd = std::numeric_limits<std::int32_t>::max();

/// Another image of the micro-batch that is mixed in: (1 - share) * own + share * partner's, in the values that go out,
/// in rows [top, bottom) and columns [left, right) of what comes out; elsewhere the own alone.
struct ImageMix {
  std::int32_t partner = 0;  ///< its place
  float share = 0;           ///< of the partner, in [0, 1]; 0: nothing is mixed; 1: the partner's, exactly
  std::int32_t top = 0, bottom = kToTheEnd, left = 0, right = kToTheEnd;
};

/// How one image is cut: out(h, w) = image(h + dy, flip ? W - 1 - w + dx : w + dx), the border outside the image; its
/// values in the hole are 0.
struct ImageCut {
  std::int32_t dy = 0, dx = 0;  ///< where the border reflects: within +-(H - 1), +-(W - 1)
  std::int32_t flip = 0;
  std::int32_t is_padding = 0;  ///< 1: byte 0 everywhere, for places after the last sample
  std::int32_t hole_top = 0, hole_bottom = 0, hole_left = 0, hole_right = 0;  ///< rows [top, bottom) of what comes out
  ImageMix mix;
};

/// The pixel of 0..count - 1 that kReflect shows at a position at most count - 1 outside.
constexpr std::int64_t reflected(std::int64_t position, std::int64_t count) {
  return position < 0 ? -position : position >= count ? 2 * (count - 1) - position : position;
}

/// x[n,h,w,c] = value_of[c, byte], mixed in float32 as mix says, rounded to spec.type.
class ImageBatchOp {
 public:
  using Spec = ImageBatchSpec;
  static constexpr const char* kName = "batch of images";

  virtual ~ImageBatchOp() = default;

  /// images (N,H,W,C) and cuts (N) in device memory; x overwritten.
  virtual void run(const std::uint8_t* images, const ImageCut* cuts, void* x) = 0;
};

}  // namespace convoy::ops
