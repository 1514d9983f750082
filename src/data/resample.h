/// An image at another size, with what is between the pixels averaged: no aliases when it shrinks.
#pragma once

#include <cstdint>
#include <vector>

#include "data/decode_image.h"

namespace convoy {

/// A rectangle of an image, in its pixels; edges may fall between them.
struct Region {
  double top = 0, left = 0, height = 0, width = 0;
  bool operator==(const Region&) const = default;
};

Region whole(const ImageShape& image);
/// The largest square in the middle.
Region centre_square(const ImageShape& image);

/// Separable triangle filter (bilinear; as wide as the step where it shrinks) with weights of 14 bits, summed exactly
/// and rounded once: the same bits everywhere. Keeps its memory. One a thread.
class Resampler {
 public:
  /// The region of a picture is to become h x w pixels. Returns what of the picture that depends on.
  Window plan(const ImageShape& picture, const Region& region, std::int64_t h, std::int64_t w);
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
  static void plan(Axis& axis, std::int64_t in_size, double begin, double length, std::int64_t out_size);

  Axis rows_, columns_;
  std::vector<float> widened_;      ///< rows of the image, as many as a row of what comes out is made of
  std::vector<double> between_;     ///< a row of what comes out, before its columns are added
  std::vector<std::int32_t> sums_;  ///< after
};

}  // namespace convoy
