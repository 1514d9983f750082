/// An image at another size, with what is between the pixels averaged: no aliases when it shrinks.
#pragma once

#include <cstdint>
#include <vector>

#include "data/decode_image.h"

namespace convoy {

/// A rectangle of an image, in its pixels; edges may fall between them.
struct Region {
  double top = 0, left = 0, height = 0, width = 0;
};

Region whole(const ImageShape& image);
/// The largest square in the middle.
Region centre_square(const ImageShape& image);

/// Separable triangle filter (bilinear; as wide as the step where it shrinks), in whole numbers: the same bits
/// everywhere. Keeps its memory. One a thread.
class Resampler {
 public:
  /// `out` takes h * w * image.shape.c bytes.
  void resample(const ImageView& image, const Region& region, std::int64_t h, std::int64_t w, std::uint8_t* out);

 private:
  /// out[i] = sum over t of weight[i * taps + t] * in[first[i] + t]
  struct Axis {
    std::int64_t taps = 0;
    std::vector<std::int64_t> first;
    std::vector<std::int32_t> weight;
    std::int64_t begin = 0, end = 0;  ///< what of the input is used
    std::vector<double> exact;        ///< weights of one output, before rounding
  };
  template <int kChannels>
  static void resample_row(const std::uint8_t* row, const Axis& columns, std::int64_t channels, std::uint16_t* to);
  static void plan(Axis& axis, std::int64_t in_size, double begin, double length, std::int64_t out_size);

  Axis rows_, columns_;
  std::vector<std::uint16_t> between_;
  std::vector<std::int32_t> sums_;
};

}  // namespace convoy
