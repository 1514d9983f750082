/// Brightness and contrast by tables of 256, saturation in 65536ths.
#include "data/images/colour_jitter.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/images/pixel_kernels.h"

namespace convoy {

namespace {

// v becomes factor * v + shift.
void map_bytes(std::uint8_t* pixels, std::int64_t count, double factor, double shift) {
  std::array<std::uint8_t, 256> byte_of;
  for (std::size_t v = 0; v < byte_of.size(); ++v)
    byte_of[v] = static_cast<std::uint8_t>(std::clamp(std::rint(factor * static_cast<double>(v) + shift), 0.0, 255.0));
  pixel_kernels::map_bytes(byte_of.data(), count, pixels);
}

double mean_grey(const std::uint8_t* pixels, const ImageShape& shape) {
  const std::int64_t num_pixels = shape.h * shape.w;
  if (shape.c == 3)
    return static_cast<double>(pixel_kernels::sum_of_luma(pixels, num_pixels)) / static_cast<double>(num_pixels);
  const std::int64_t sum = std::accumulate(pixels, pixels + shape.count(), std::int64_t{0});
  return static_cast<double>(sum) / static_cast<double>(shape.count());
}

}  // namespace

void ColourJitter::apply(std::uint8_t* pixels, const ImageShape& shape) const {
  for (const Kind kind : order) {
    const double f = factor[kind];
    if (f == 1) continue;
    if (kind == kBrightness) map_bytes(pixels, shape.count(), f, 0);
    if (kind == kContrast) map_bytes(pixels, shape.count(), f, (1 - f) * mean_grey(pixels, shape));
    if (kind == kSaturation && shape.c == 3)
      pixel_kernels::saturate(static_cast<std::int32_t>(std::lrint(f * (1 << 16))), shape.h * shape.w, pixels);
  }
}

bool has_jitter(const AugmentationSpec& spec) {
  return spec.brightness > 0 || spec.contrast > 0 || spec.saturation > 0;
}

ColourJitter draw_jitter(const AugmentationSpec& spec, const RandomKey& key) {
  ColourJitter jitter;
  const std::array<double, 3> reach = {spec.brightness, spec.contrast, spec.saturation};
  for (std::size_t k = 0; k < 3; ++k)
    jitter.factor[k] = 1 + reach[k] * (2 * random_uniform(key, static_cast<std::uint64_t>(k)) - 1);
  std::swap(jitter.order[0], jitter.order[random_below(key, 3, 3)]);
  std::swap(jitter.order[1], jitter.order[1 + random_below(key, 4, 2)]);
  return jitter;
}

}  // namespace convoy
