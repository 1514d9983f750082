/// Resizes an image with antialiasing: each pixel of the result averages the area that it covers.
#pragma once

#include <cstdint>
#include <vector>

#include "data/images/decode_image.h"

namespace convoy {

/// A rectangle of an image, in units of its pixels. Its edges need not be whole numbers.
struct Region {
  double top = 0, left = 0, height = 0, width = 0;
  bool operator==(const Region&) const = default;
};

/// Returns the region of the whole image.
Region whole(const ImageShape& image);

/// Positions along one axis: the centre of pixel i of the result is at begin + (first + i + 1/2) * step in the picture,
/// where the centre of pixel j is at j + 1/2.
struct AxisGrid {
  double begin = 0, step = 1;
  std::int64_t first = 0;
  bool operator==(const AxisGrid&) const = default;
};

/// Positions of the pixels of a resized image in the picture. By default they are the picture's own pixels.
struct PixelGrid {
  AxisGrid rows, columns;
  bool operator==(const PixelGrid&) const = default;
};

/// Returns the positions of h x w pixels that divide the region evenly.
PixelGrid grid_over(const Region& region, std::int64_t h, std::int64_t w);

/// Resizes images by a separable triangle filter: bilinear, and wider if the image shrinks (antialiasing). Weights have
/// 14 bits; sums are exact and rounded once, so the bits are the same on every processor. It keeps memory from image to
/// image, so each thread needs its own resampler.
class Resampler {
 public:
  /// Prepares resample() for h x w pixels at the positions `grid` of a picture. Returns the window of the picture on
  /// which they depend.
  Window plan(const ImageShape& picture, const PixelGrid& grid, std::int64_t h, std::int64_t w);
  /// Computes the h x w pixels of the last plan(). `image` is a view of at least the window that plan() returned. `out`
  /// gets h * w * image.shape.c bytes.
  void resample(const ImageView& image, std::uint8_t* out);

 private:
  /// The filter along one axis: out[i] = sum over t < taps of weight[i * taps + t] * in[first[i] + t].
  struct Axis {
    std::int64_t taps = 0;
    std::vector<std::int64_t> first;
    std::vector<double> weight;
    /// Scratch for the weights of one value of the result, before they are divided by their sum and rounded to 14 bits.
    std::vector<double> exact;

    std::int64_t size() const { return static_cast<std::int64_t>(first.size()); }
    std::int64_t begin() const { return first.front(); }
    std::int64_t end() const { return first.back() + taps; }
  };
  static void plan(Axis& axis, std::int64_t in_size, const AxisGrid& grid, std::int64_t out_size);

  Axis rows_, columns_;
  std::vector<float> widened_;      ///< the rows of the image on which one row of the result depends, as floats
  std::vector<double> between_;     ///< the sum over rows for one row of the result
  std::vector<std::int32_t> sums_;  ///< the sum over columns for one row of the result
};

}  // namespace convoy
