/// Changes colours as torchvision and Pillow do for PIL images, byte for byte. The places at which they round products
/// to float32 or truncate values are part of the result. Source: Pillow 13's Blend.c, Filter.c, ImageEnhance.py and
/// ImageOps.py.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/base/shape.h"

namespace convoy::colour_edits {

/// Pixels (H,W,C) with C = 1 or 3, which are changed in place.
struct Pixels {
  std::uint8_t* data = nullptr;
  ImageShape shape;
};

/// brightness(), contrast(), saturation() and sharpness() compute plain + factor * (image - plain), which goes from a
/// plain picture (factor 0) through the image (1) beyond it, in 0..255: product and sum in float32, then truncated.
void brightness(const Pixels& image, double factor);  ///< plain: black
void contrast(const Pixels& image, double factor);    ///< plain: the rounded mean of luma()
void saturation(const Pixels& image, double factor);  ///< plain: the pixel's luma(); no change for one channel
/// plain: mean of 3 x 3 neighbours, the pixel itself five times, rounded; the outermost pixels do not change. `plain`
/// is memory that is used meanwhile.
void sharpness(const Pixels& image, double factor, std::vector<std::uint8_t>& plain);

void posterize(const Pixels& image, int bits);         ///< keeps only the highest bits. 0 <= bits <= 8
void solarize(const Pixels& image, double threshold);  ///< v >= threshold becomes 255 - v
void stretch_contrast(const Pixels& image);            ///< stretches each channel to 0..255: "auto-contrast"
void equalize(const Pixels& image);                    ///< makes each channel's values as evenly frequent as possible

}  // namespace convoy::colour_edits
