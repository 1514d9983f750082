/// torchvision's rounding: the long side down; where the crop begins to the nearest integer, of two as near the even
/// one.
#include "data/centre_crop.h"

#include <algorithm>
#include <cmath>

namespace convoy {

namespace {

AxisGrid middle(std::int64_t side, std::int64_t resized, std::int64_t size) {
  return {.step = static_cast<double>(side) / static_cast<double>(resized),
          .first = std::llrint(static_cast<double>(resized - size) / 2)};
}

}  // namespace

PixelGrid centre_crop(const ImageShape& picture, std::int64_t short_side, std::int64_t size) {
  const std::int64_t shorter = std::min(picture.h, picture.w);
  return {.rows = middle(picture.h, short_side * picture.h / shorter, size),
          .columns = middle(picture.w, short_side * picture.w / shorter, size)};
}

}  // namespace convoy
