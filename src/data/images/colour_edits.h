/// Changes colours as torchvision and Pillow do for PIL images, byte for byte. The places at which they round products
/// to float32 or truncate values are part of the result. Source: Pillow 13's Blend.c, Filter.c, ImageEnhance.py and
/// ImageOps.py.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/base/shape.h"

namespace convoy::colour_edits {

/// Pixels (H,W,C) with C = 1 or 3, which the functions change in place.
struct Pixels {
  std::uint8_t* data = nullptr;
  ImageShape shape;
};

// brightness(), contrast(), saturation() and sharpness() compute plain + factor * (image - plain): a factor of 0 gives
// a plain picture, 1 the image itself, more goes beyond it. Product and sum are float32, limited to 0..255 and
// truncated.

/// Computes factor * image.
void brightness(const Pixels& image, double factor);
/// Computes plain + factor * (image - plain), where plain is the rounded mean of luma() over the image.
void contrast(const Pixels& image, double factor);
/// Computes plain + factor * (image - plain), where plain is luma() of the pixel. Changes nothing if C is 1.
void saturation(const Pixels& image, double factor);
/// Computes plain + factor * (image - plain), where plain is the rounded mean of the 3 x 3 pixels around each pixel,
/// the pixel itself counted five times. The outermost pixels do not change. `plain` is scratch memory of the caller.
void sharpness(const Pixels& image, double factor, std::vector<std::uint8_t>& plain);

void posterize(const Pixels& image, int bits);         ///< keeps the highest `bits` bits of each byte, 0 <= bits <= 8
void solarize(const Pixels& image, double threshold);  ///< replaces each byte v >= threshold by 255 - v
void stretch_contrast(const Pixels& image);            ///< stretches each channel to 0..255 (auto-contrast)
void equalize(const Pixels& image);                    ///< equalizes the histogram of each channel

}  // namespace convoy::colour_edits
