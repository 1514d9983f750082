/// Draws the factors and their order.
#include "data/images/colour_jitter.h"

#include <utility>

#include "data/images/colour_edits.h"

namespace convoy {

void ColourJitter::apply(std::uint8_t* pixels, const ImageShape& shape) const {
  const colour_edits::Pixels image{pixels, shape};
  for (const Kind kind : order) {
    if (kind == kBrightness) colour_edits::brightness(image, factor[kind]);
    if (kind == kContrast) colour_edits::contrast(image, factor[kind]);
    if (kind == kSaturation) colour_edits::saturation(image, factor[kind]);
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
