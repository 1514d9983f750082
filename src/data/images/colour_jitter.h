/// Changes brightness, contrast and saturation of bytes at random.
#pragma once

#include <array>
#include <cstdint>

#include "convoy/base/random.h"
#include "convoy/base/shape.h"

#include "data/images/augmenter.h"

namespace convoy {

/// Changes pixels as torchvision's ColorJitter changes a PIL image for the same factors and order (colour_edits.h).
/// With a factor f:
///   brightness: f v;   contrast: f v + (1 - f) mean grey of the image;   saturation: f v + (1 - f) grey of the pixel
/// one after the other. An image without colours has no saturation to change.
struct ColourJitter {
  enum Kind : std::uint8_t { kBrightness, kContrast, kSaturation };

  std::array<double, 3> factor = {1, 1, 1};                           ///< by Kind; 1: no change
  std::array<Kind, 3> order = {kBrightness, kContrast, kSaturation};  ///< each order is equally likely

  /// Changes pixels (H,W,C). C is 1 or 3 if anything but brightness is to be changed.
  void apply(std::uint8_t* pixels, const ImageShape& shape) const;
};

bool has_jitter(const AugmentationSpec& spec);
ColourJitter draw_jitter(const AugmentationSpec& spec, const RandomKey& key);

}  // namespace convoy
