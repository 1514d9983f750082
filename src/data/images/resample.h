/// Resizes an image with antialiasing: each pixel of the result averages the area that it covers.
#pragma once

#include <cstdint>
#include <vector>

#include "data/images/decode_image.h"

namespace convoy {

/// A rectangle of an image, in its pixels; edges may fall between them.
struct Region {
  double top = 0, left = 0, height = 0, width = 0;
  bool operator==(const Region&) const = default;
};

Region whole(const ImageShape& image);

/// Pixel i of what comes out has its centre at begin + (first + i + 1/2) * step along an axis of the picture, whose
/// pixel j has its centre at j + 1/2.
struct AxisGrid {
  double begin = 0, step = 1;
  std::int64_t first = 0;
  bool operator==(const AxisGrid&) const = default;
};

/// Where the pixels that come out lie in the picture; the default: where the picture's own lie.
struct PixelGrid {
  AxisGrid rows, columns;
  bool operator==(const PixelGrid&) const = default;
};

/// h x w pixels that fill the region.
PixelGrid grid_over(const Region& region, std::int64_t h, std::int64_t w);

/// Separable triangle filter (bilinear; as wide as the step where it shrinks) with weights of 14 bits, summed exactly
/// and rounded once: the same bits everywhere. Keeps its memory. One per thread.
class Resampler {
 public:
  /// h x w pixels are to be made of a picture. Returns what of the picture they depend on.
  Window plan(const ImageShape& picture, const PixelGrid& grid, std::int64_t h, std::int64_t w);
  /// As planned, from a view of at least that window. `out` takes h * w * image.shape.c bytes.
  void resample(const ImageView& image, std::uint8_t* out);

 private:
  /// out[i] = sum over t of weight[i * taps + t] * in[first[i] + t]
  struct Axis {
    std::int64_t taps = 0;
    std::vector<std::int64_t> first;
    std::vector<double> weight;
    std::vector<double> exact;  ///< weights of one output, before rounding

    std::int64_t size() const { return static_cast<std::int64_t>(first.size()); }
    std::int64_t begin() const { return first.front(); }
    std::int64_t end() const { return first.back() + taps; }
  };
  static void plan(Axis& axis, std::int64_t in_size, const AxisGrid& grid, std::int64_t out_size);

  Axis rows_, columns_;
  std::vector<float> widened_;      ///< rows of the image, as many as a row of what comes out is made of
  std::vector<double> between_;     ///< a row of what comes out, before its columns are added
  std::vector<std::int32_t> sums_;  ///< after
};

}  // namespace convoy
