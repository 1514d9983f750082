/// Numbers 4t ... 4t + 3 of the key are the t-th try's: area, aspect, row, column.
#include "data/random_crop.h"

#include <algorithm>
#include <cmath>

namespace convoy {

namespace {

constexpr double kLeastAspect = 3.0 / 4.0, kMostAspect = 4.0 / 3.0;
constexpr std::uint64_t kTries = 10;

Region centre(const ImageShape& image, double height, double width) {
  return {std::floor((static_cast<double>(image.h) - height) / 2),
          std::floor((static_cast<double>(image.w) - width) / 2), height, width};
}

}  // namespace

Region random_resized_crop(const ImageShape& image, double least_share, const RandomKey& key) {
  const auto h = static_cast<double>(image.h), w = static_cast<double>(image.w);
  for (std::uint64_t t = 0; t < kTries; ++t) {
    const double area = h * w * (least_share + (1 - least_share) * random_uniform(key, 4 * t));
    const double log_least = std::log(kLeastAspect), log_most = std::log(kMostAspect);
    const double aspect = std::exp(log_least + (log_most - log_least) * random_uniform(key, 4 * t + 1));
    const double height = std::rint(std::sqrt(area / aspect)), width = std::rint(std::sqrt(area * aspect));
    if (height < 1 || width < 1 || height > h || width > w) continue;
    const auto place = [&](std::uint64_t index, double room) {
      return static_cast<double>(random_below(key, index, static_cast<std::uint64_t>(room) + 1));
    };
    return {place(4 * t + 2, h - height), place(4 * t + 3, w - width), height, width};
  }
  if (w / h < kLeastAspect) return centre(image, std::clamp(std::rint(w / kLeastAspect), 1.0, h), w);
  if (w / h > kMostAspect) return centre(image, h, std::clamp(std::rint(h * kMostAspect), 1.0, w));
  return whole(image);
}

}  // namespace convoy
