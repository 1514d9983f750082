/// Implements the ranges of both policies, shearing, moving and turning by whole pixels, and the draws.
#include "data/images/auto_augment.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "data/images/colour_edits.h"

namespace convoy {

namespace {

/// Range of an edit's magnitudes: from `first` (level 0) to `last`.
struct Range {
  double first = 0, last = 0;
  bool has_sign = false;
};

Range range_of(AutoAugmentKind policy, EditKind kind, const ImageShape& image) {
  const bool wide = policy == AutoAugmentKind::kTrivial;
  switch (kind) {
    case EditKind::kShearX:
    case EditKind::kShearY:
      return {.last = wide ? 0.99 : 0.3, .has_sign = true};
    // RandAugment's translations were chosen for images of 331 pixels; the largest is 150 there.
    case EditKind::kTranslateX:
      return {.last = wide ? 32 : 150.0 / 331.0 * static_cast<double>(image.w), .has_sign = true};
    case EditKind::kTranslateY:
      return {.last = wide ? 32 : 150.0 / 331.0 * static_cast<double>(image.h), .has_sign = true};
    case EditKind::kRotate:
      return {.last = wide ? 135.0 : 30.0, .has_sign = true};
    case EditKind::kBrightness:
    case EditKind::kSaturation:
    case EditKind::kContrast:
    case EditKind::kSharpness:
      return {.last = wide ? 0.99 : 0.9, .has_sign = true};
    case EditKind::kPosterize:
      return {.first = 8, .last = wide ? 2.0 : 4.0};
    case EditKind::kSolarize:
      return {.first = 255};
    case EditKind::kIdentity:
    case EditKind::kAutoContrast:
    case EditKind::kEqualize:
      break;
  }
  return {};
}

// Returns torch.linspace's value: float32, from the nearer end, product and sum rounded once.
double magnitude_at(const Range& range, std::int64_t level) {
  const auto first = static_cast<float>(range.first), last = static_cast<float>(range.last);
  const float step = (last - first) / static_cast<float>(kNumLevels - 1);
  if (level < kNumLevels / 2) return std::fma(step, static_cast<float>(level), first);
  return std::fma(-step, static_cast<float>(kNumLevels - 1 - level), last);
}

/// Position in the image that pixel (x, y) of the result is read from: column = columns[0] x + columns[1] y +
/// columns[2], row = rows[0] x + rows[1] y + rows[2].
struct Motion {
  std::array<double, 3> columns = {1, 0, 0}, rows = {0, 1, 0};
};

Motion motion_of(const ImageEdit& edit, const ImageShape& shape) {
  const double m = edit.magnitude;
  if (edit.kind == EditKind::kShearX) return {.columns = {1, m, 0}};
  if (edit.kind == EditKind::kShearY) return {.rows = {m, 1, 0}};
  if (edit.kind == EditKind::kTranslateX) return {.columns = {1, 0, -std::trunc(m)}};
  if (edit.kind == EditKind::kTranslateY) return {.rows = {0, 1, -std::trunc(m)}};
  // Turns about the centre; rows count downwards.
  const double angle = -m * std::numbers::pi / 180, c = std::cos(angle), s = std::sin(angle);
  const double x = static_cast<double>(shape.w) / 2, y = static_cast<double>(shape.h) / 2;
  return {.columns = {c, s, -c * x - s * y + x}, .rows = {-s, c, s * x - c * y + y}};
}

std::int64_t fixed(double value) {
  return static_cast<std::int64_t>(std::floor(value * 65536 + 0.5));
}

// Takes for each (x, y) the pixel that holds the point from which its middle comes; black if there is none. Positions
// are in 65536ths, added from row to row and from column to column, as Pillow does for "nearest" (Geometry.c): this is
// part of the result.
void move(const Motion& motion, const ImageShape& shape, const std::uint8_t* in, std::uint8_t* out) {
  const auto& [a, b] = motion;
  std::int64_t first_column = fixed(a[2] + a[0] * 0.5 + a[1] * 0.5), first_row = fixed(b[2] + b[0] * 0.5 + b[1] * 0.5);
  const std::int64_t right_column = fixed(a[0]), right_row = fixed(b[0]);
  for (std::int64_t y = 0; y < shape.h; ++y, first_column += fixed(a[1]), first_row += fixed(b[1])) {
    std::int64_t column = first_column, row = first_row;
    for (std::int64_t x = 0; x < shape.w; ++x, column += right_column, row += right_row, out += shape.c) {
      const std::int64_t from_x = column >> 16, from_y = row >> 16;
      const bool inside = from_x >= 0 && from_x < shape.w && from_y >= 0 && from_y < shape.h;
      if (inside)
        std::copy_n(in + (from_y * shape.w + from_x) * shape.c, shape.c, out);
      else
        std::fill_n(out, shape.c, std::uint8_t{0});
    }
  }
}

}  // namespace

ImageEdit edit_at(AutoAugmentKind policy, EditKind kind, std::int64_t level, bool negative, const ImageShape& image) {
  const Range range = range_of(policy, kind, image);
  const double magnitude = magnitude_at(range, level);
  if (kind == EditKind::kPosterize)
    return {kind, 8 - std::rint((8 - range.last) * static_cast<double>(level) / (kNumLevels - 1))};
  return {kind, range.has_sign && negative ? -magnitude : magnitude};
}

std::vector<ImageEdit> draw_edits(const AugmentParams& params, const ImageShape& image, const RandomKey& key) {
  if (params.policy == AutoAugmentKind::kNone) return {};
  const bool trivial = params.policy == AutoAugmentKind::kTrivial;
  std::vector<ImageEdit> edits(static_cast<std::size_t>(trivial ? 1 : params.policy_operations));
  for (std::uint64_t i = 0; i < edits.size(); ++i) {
    const auto kind = static_cast<EditKind>(random_below(key, 3 * i, kNumEdits));
    const auto level =
        trivial ? static_cast<std::int64_t>(random_below(key, 3 * i + 1, kNumLevels)) : params.policy_magnitude;
    edits[i] = edit_at(params.policy, kind, level, random_below(key, 3 * i + 2, 2) == 1, image);
  }
  return edits;
}

void ImageEditor::apply(const ImageEdit& edit, const ImageShape& shape, std::uint8_t* pixels) {
  const colour_edits::Pixels image{pixels, shape};
  const double m = edit.magnitude;
  switch (edit.kind) {
    case EditKind::kIdentity:
      return;
    case EditKind::kBrightness:
      return colour_edits::brightness(image, 1 + m);
    case EditKind::kSaturation:
      return colour_edits::saturation(image, 1 + m);
    case EditKind::kContrast:
      return colour_edits::contrast(image, 1 + m);
    case EditKind::kSharpness:
      return colour_edits::sharpness(image, 1 + m, memory_);
    case EditKind::kPosterize:
      return colour_edits::posterize(image, static_cast<int>(m));
    case EditKind::kSolarize:
      return colour_edits::solarize(image, m);
    case EditKind::kAutoContrast:
      return colour_edits::stretch_contrast(image);
    case EditKind::kEqualize:
      return colour_edits::equalize(image);
    case EditKind::kShearX:
    case EditKind::kShearY:
    case EditKind::kTranslateX:
    case EditKind::kTranslateY:
    case EditKind::kRotate:
      memory_.assign(pixels, pixels + shape.count());
      return move(motion_of(edit, shape), shape, memory_.data(), pixels);
  }
}

void ColourJitter::apply(std::uint8_t* pixels, const ImageShape& shape) const {
  const colour_edits::Pixels image{pixels, shape};
  for (const Kind kind : order) {
    if (kind == kBrightness) colour_edits::brightness(image, factor[kind]);
    if (kind == kContrast) colour_edits::contrast(image, factor[kind]);
    if (kind == kSaturation) colour_edits::saturation(image, factor[kind]);
  }
}

bool has_jitter(const AugmentParams& params) {
  return params.brightness > 0 || params.contrast > 0 || params.saturation > 0;
}

ColourJitter draw_jitter(const AugmentParams& params, const RandomKey& key) {
  ColourJitter jitter;
  const std::array<double, 3> reach = {params.brightness, params.contrast, params.saturation};
  for (std::size_t k = 0; k < 3; ++k)
    jitter.factor[k] = 1 + reach[k] * (2 * random_uniform(key, static_cast<std::uint64_t>(k)) - 1);
  std::swap(jitter.order[0], jitter.order[random_below(key, 3, 3)]);
  std::swap(jitter.order[1], jitter.order[1 + random_below(key, 4, 2)]);
  return jitter;
}

}  // namespace convoy
