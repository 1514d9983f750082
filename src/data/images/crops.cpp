/// Centres as torchvision rounds them, and random parts.
#include "data/images/crops.h"

#include <algorithm>
#include <cmath>

namespace convoy {

namespace {

constexpr double kMinAspect = 3.0 / 4.0, kMaxAspect = 4.0 / 3.0;
constexpr std::uint64_t kTries = 10;

Region centre(const ImageShape& image, double height, double width) {
  return {std::floor((static_cast<double>(image.h) - height) / 2),
          std::floor((static_cast<double>(image.w) - width) / 2), height, width};
}

// The long side is rounded down; where the crop begins to the nearest integer, of two as near the even one.
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

// Numbers 4t ... 4t + 3 of the key are the t-th try's: area, aspect, row, column.
Region random_resized_crop(const ImageShape& image, double min_share, const RandomKey& key) {
  const auto h = static_cast<double>(image.h), w = static_cast<double>(image.w);
  for (std::uint64_t t = 0; t < kTries; ++t) {
    const double area = h * w * (min_share + (1 - min_share) * random_uniform(key, 4 * t));
    const double log_min = std::log(kMinAspect), log_max = std::log(kMaxAspect);
    const double aspect = std::exp(log_min + (log_max - log_min) * random_uniform(key, 4 * t + 1));
    const double height = std::rint(std::sqrt(area / aspect)), width = std::rint(std::sqrt(area * aspect));
    if (height < 1 || width < 1 || height > h || width > w) continue;
    const auto offset = [&](std::uint64_t index, double room) {
      return static_cast<double>(random_below(key, index, static_cast<std::uint64_t>(room) + 1));
    };
    return {offset(4 * t + 2, h - height), offset(4 * t + 3, w - width), height, width};
  }
  if (w / h < kMinAspect) return centre(image, std::clamp(std::rint(w / kMinAspect), 1.0, h), w);
  if (w / h > kMaxAspect) return centre(image, h, std::clamp(std::rint(h * kMaxAspect), 1.0, w));
  return whole(image);
}

}  // namespace convoy
