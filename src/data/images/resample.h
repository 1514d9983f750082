/// Resizes an image with antialiasing: each pixel of the result averages the area that it covers.
#pragma once

#include <cstdint>
#include <vector>

#include "data/images/decode_image.h"

namespace convoy {

/// A rectangle of an image, in units of its pixels; its edges may fall between them.
struct Region {
  double top = 0, left = 0, height = 0, width = 0;
  bool operator==(const Region&) const = default;
};

Region whole(const ImageShape& image);

/// Positions along one axis: pixel i of the result has its centre at begin + (first + i + 1/2) * step of the picture,
/// whose pixel j has its centre at j + 1/2.
struct AxisGrid {
  double begin = 0, step = 1;
  std::int64_t first = 0;
  bool operator==(const AxisGrid&) const = default;
};

/// Positions of the result's pixels in the picture; by default they are the picture's own.
struct PixelGrid {
  AxisGrid rows, columns;
  bool operator==(const PixelGrid&) const = default;
};

/// Returns the grid of h x w pixels that fill the region.
PixelGrid grid_over(const Region& region, std::int64_t h, std::int64_t w);

/// Resizes by a separable triangle filter (bilinear; as wide as the step if it shrinks) with weights of 14 bits, summed
/// exactly and rounded once: the same bits everywhere. Keeps its memory. Each thread has its own.
class Resampler {
 public:
  /// Prepares to make h x w pixels from a picture. Returns the part of the picture that they depend on.
  Window plan(const ImageShape& picture, const PixelGrid& grid, std::int64_t h, std::int64_t w);
  /// Resizes as planned, from a view of at least the window that plan() returned. `out` takes h * w * image.shape.c
  /// bytes.
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
  std::vector<float> widened_;      ///< as many rows of the image as one row of the result depends on
  std::vector<double> between_;     ///< a row of the result, before its columns are added
  std::vector<std::int32_t> sums_;  ///< a row of the result, after its columns were added
};

}  // namespace convoy
