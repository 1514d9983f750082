/// Brightness and contrast by tables of 256, saturation in 65536ths.
#include "data/colour_jitter.h"

#include <algorithm>
#include <cmath>

#include "data/decode_image.h"

namespace convoy {

namespace {

// v becomes factor * v + shift.
void map_bytes(std::uint8_t* pixels, std::int64_t count, double factor, double shift) {
  std::array<std::uint8_t, 256> byte_of;
  for (std::size_t v = 0; v < byte_of.size(); ++v)
    byte_of[v] = static_cast<std::uint8_t>(std::clamp(std::rint(factor * static_cast<double>(v) + shift), 0.0, 255.0));
  for (std::int64_t i = 0; i < count; ++i) pixels[i] = byte_of[pixels[i]];
}

double mean_grey(const std::uint8_t* pixels, const ImageShape& shape) {
  const std::int64_t num_pixels = shape.h * shape.w;
  std::int64_t sum = 0;
  if (shape.c == 3) {
    for (std::int64_t i = 0; i < num_pixels; ++i) sum += luma(pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2]);
  } else {
    for (std::int64_t i = 0; i < shape.count(); ++i) sum += pixels[i];
  }
  return static_cast<double>(sum) / static_cast<double>(shape.c == 3 ? num_pixels : shape.count());
}

void saturate(std::uint8_t* pixels, std::int64_t num_pixels, double factor) {
  constexpr int kOne = 1 << 16;
  const int share = static_cast<int>(std::lrint(factor * kOne));
  for (std::int64_t i = 0; i < num_pixels; ++i, pixels += 3) {
    const int grey = (kOne - share) * luma(pixels[0], pixels[1], pixels[2]) + kOne / 2;
    for (int c = 0; c < 3; ++c)
      pixels[c] = static_cast<std::uint8_t>(std::clamp((share * pixels[c] + grey) >> 16, 0, 255));
  }
}

}  // namespace

void ColourJitter::apply(std::uint8_t* pixels, const ImageShape& shape) const {
  for (const Kind kind : order) {
    const double f = factor[kind];
    if (f == 1) continue;
    if (kind == kBrightness) map_bytes(pixels, shape.count(), f, 0);
    if (kind == kContrast) map_bytes(pixels, shape.count(), f, (1 - f) * mean_grey(pixels, shape));
    if (kind == kSaturation && shape.c == 3) saturate(pixels, shape.h * shape.w, f);
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
