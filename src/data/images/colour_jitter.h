/// Changes brightness, contrast and saturation of images at random.
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
/// The three changes are made one after the other. The saturation of an image with one channel is not changed.
struct ColourJitter {
  enum Kind : std::uint8_t { kBrightness, kContrast, kSaturation };

  std::array<double, 3> factor = {1, 1, 1};                           ///< the factor of each Kind; 1: no change
  std::array<Kind, 3> order = {kBrightness, kContrast, kSaturation};  ///< the order in which apply() makes them

  /// Changes pixels (H,W,C) in place. C must be 1 or 3, unless only the brightness is changed.
  void apply(std::uint8_t* pixels, const ImageShape& shape) const;
};

/// Returns whether the augmentation changes brightness, contrast or saturation.
bool has_jitter(const AugmentationSpec& spec);
/// Draws the factors and the order at random; each order is equally likely.
ColourJitter draw_jitter(const AugmentationSpec& spec, const RandomKey& key);

}  // namespace convoy
