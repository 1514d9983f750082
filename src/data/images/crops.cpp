/// Computes centres as torchvision rounds them, and draws random parts.
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

// Returns the middle of a side. The long side is rounded down; the position at which the crop begins is rounded to the
// nearest integer, to the even one of two.
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

// Numbers 4t ... 4t + 3 of the key are the t-th try's area, aspect, row and column.
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

PixelBox cutmix_box(const ImageShape& image, double share, const RandomKey& key) {
  const auto h = static_cast<std::int32_t>(image.h), w = static_cast<std::int32_t>(image.w);
  const auto column = static_cast<std::int32_t>(random_below(key, 0, static_cast<std::uint64_t>(w)));
  const auto row = static_cast<std::int32_t>(random_below(key, 1, static_cast<std::uint64_t>(h)));
  const double half = 0.5 * std::sqrt(share);
  const auto half_w = static_cast<std::int32_t>(half * w), half_h = static_cast<std::int32_t>(half * h);
  return {std::max(row - half_h, 0), std::min(row + half_h, h), std::max(column - half_w, 0),
          std::min(column + half_w, w)};
}

PixelBox random_erasing(const ImageShape& image, double probability, const RandomKey& key) {
  constexpr double kMinArea = 0.02, kMaxArea = 0.33, kMinRatio = 0.3, kMaxRatio = 3.3;
  if (random_uniform(key, 0) >= probability) return {};
  const double log_min = std::log(kMinRatio), log_max = std::log(kMaxRatio);
  for (std::uint64_t t = 0; t < kTries; ++t) {
    const double area =
        static_cast<double>(image.h * image.w) * (kMinArea + (kMaxArea - kMinArea) * random_uniform(key, 4 * t + 1));
    const double ratio = std::exp(log_min + (log_max - log_min) * random_uniform(key, 4 * t + 2));
    const std::int64_t h = std::llrint(std::sqrt(area * ratio)), w = std::llrint(std::sqrt(area / ratio));
    if (h >= image.h || w >= image.w) continue;
    const auto offset = [&](std::uint64_t index, std::int64_t room) {
      return static_cast<std::int32_t>(random_below(key, index, static_cast<std::uint64_t>(room) + 1));
    };
    const std::int32_t top = offset(4 * t + 3, image.h - h), left = offset(4 * t + 4, image.w - w);
    return {top, top + static_cast<std::int32_t>(h), left, left + static_cast<std::int32_t>(w)};
  }
  return {};
}

}  // namespace convoy
