/// The contract of turning stored bytes into a network's input: crop, flip, normalise and round in one pass.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"
#include "convoy/params/choices.h"

namespace convoy::ops {

inline constexpr int kNumBytes = 256;  ///< number of values of a byte

struct ImageBatchSpec {
  Shape x;                      ///< (N,H,W,C)
  std::vector<float> value_of;  ///< (C,256) the network's input for each channel and byte
  DataType type = DataType::kFloat32;
  BorderKind border = BorderKind::kBlack;
};

inline constexpr std::int32_t kToTheEnd = std::numeric_limits<std::int32_t>::max();

/// The mixing of an image with another image of the micro-batch, its partner: the output is (1 - share) * own value +
/// share * partner's value in rows [top, bottom) and columns [left, right) of the output, and the own value elsewhere.
struct ImageMix {
  std::int32_t partner = 0;  ///< index of the partner in the micro-batch
  float share = 0;           ///< share of the partner, in [0, 1]; 0: nothing is mixed; 1: the partner's values, exactly
  std::int32_t top = 0, bottom = kToTheEnd, left = 0, right = kToTheEnd;  ///< rows and columns of the output
};

/// The cut of one image: out(h, w) = image(h + dy, flip ? W - 1 - w + dx : w + dx), with the border outside the image.
/// Values in the hole are 0.
struct ImageCut {
  std::int32_t dy = 0, dx = 0;  ///< shift in pixels; with a reflecting border within +-(H - 1) and +-(W - 1)
  std::int32_t flip = 0;        ///< 1: columns are mirrored
  std::int32_t is_padding = 0;  ///< 1: a sample after the last one, all of whose bytes are taken as 0
  /// The hole: rows [top, bottom) and columns [left, right) of the output.
  std::int32_t hole_top = 0, hole_bottom = 0, hole_left = 0, hole_right = 0;
  ImageMix mix;
};

/// Returns the pixel, 0..count - 1, that kReflect shows at a position at most count - 1 outside of that range.
constexpr std::int64_t reflected(std::int64_t position, std::int64_t count) {
  return position < 0 ? -position : position >= count ? 2 * (count - 1) - position : position;
}

/// Makes a network's input of stored bytes: x[n,h,w,c] = value_of[c, byte], mixed in float32 as ImageMix describes,
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
