/// Changes of colours that torchvision and Pillow offer for PIL images, byte for byte as theirs: where a product is
/// rounded to float32 and where a value is truncated is part of the result. What they compute was read in Pillow 13's
/// Blend.c, Filter.c, ImageEnhance.py and ImageOps.py.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/base/shape.h"

namespace convoy::colour_edits {

/// Pixels (H,W,C) of C = 1 or 3 channels, changed where they lie.
struct Pixels {
  std::uint8_t* data = nullptr;
  ImageShape shape;
};

/// Each of the first four goes from a plain picture (factor 0) by way of the image (1) to the other side of it, 0..255:
/// plain + factor * (image - plain), the product and the sum in float32, then truncated.
void brightness(const Pixels& image, double factor);  ///< plain: black
void contrast(const Pixels& image, double factor);    ///< plain: the rounded mean of luma()
void saturation(const Pixels& image, double factor);  ///< plain: the pixel's luma(); one channel: nothing to change
/// plain: 3 x 3 neighbours, the pixel itself five times, rounded; the outermost pixels are as they are.
/// `plain` is memory that is used meanwhile.
void sharpness(const Pixels& image, double factor, std::vector<std::uint8_t>& plain);

void posterize(const Pixels& image, int bits);         ///< only the highest bits stay. 0 <= bits <= 8
void solarize(const Pixels& image, double threshold);  ///< v >= threshold becomes 255 - v
void stretch_contrast(const Pixels& image);            ///< each channel from 0 to 255: "auto-contrast"
void equalize(const Pixels& image);                    ///< each channel's values as evenly frequent as they can be

}  // namespace convoy::colour_edits
