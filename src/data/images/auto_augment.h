/// Changes each training image by random edits from a fixed list: RandAugment (Cubuk, Zoph, Shlens & Le 2020) and
/// TrivialAugment (Müller & Hutter 2021), and by random brightness, contrast and saturation, as torchvision applies
/// them to PIL images, byte for byte.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "convoy/base/random.h"
#include "convoy/base/shape.h"
#include "convoy/params/data_parameters.h"

namespace convoy {

enum class EditKind : std::uint8_t {
  kIdentity,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kRotate,
  kBrightness,
  kSaturation,
  kContrast,
  kSharpness,
  kPosterize,
  kSolarize,
  kAutoContrast,
  kEqualize,
};
inline constexpr std::int64_t kNumEdits = 14;

/// An edit and its magnitude. The unit depends on the kind: kShearX, columns per row; kShearY, rows per column;
/// kTranslateX and kTranslateY, pixels to the right and down; kRotate, degrees counter-clockwise; kBrightness to
/// kSharpness, the factor minus 1; kPosterize, bits that are kept; kSolarize, the threshold. Other kinds have none.
struct ImageEdit {
  EditKind kind = EditKind::kIdentity;
  double magnitude = 0;
};

/// Number of levels of magnitude, from no change to the largest change of a policy.
inline constexpr std::int64_t kNumLevels = 31;

/// Returns the edit of a kind at a level of 0 ... kNumLevels - 1. If `negative`, the magnitude is negated; kinds
/// without a direction ignore it. `image` is the shape of the edited image: RandAugment's translations are shares of
/// it.
ImageEdit edit_at(AutoAugmentKind policy, EditKind kind, std::int64_t level, bool negative, const ImageShape& image);

/// Draws the edits of one image at random, in the order in which they are applied: those of params.policy. Random
/// numbers 3i, 3i + 1 and 3i + 2 of the key choose edit i's kind, its level (only for TrivialAugment) and its sign.
std::vector<ImageEdit> draw_edits(const AugmentParams& params, const ImageShape& image, const RandomKey& key);

/// Applies edits to pixels (H,W,C) with C = 1 or 3. It keeps memory from image to image, so each thread needs its own
/// editor.
class ImageEditor {
 public:
  void apply(const ImageEdit& edit, const ImageShape& shape, std::uint8_t* pixels);

 private:
  std::vector<std::uint8_t> memory_;  ///< scratch memory for one image
};

/// Changes pixels as torchvision's ColorJitter changes a PIL image for the same factors and order (colour_edits.h).
/// With a factor f:
///   brightness: f v;   contrast: f v + (1 - f) mean grey of the image;   saturation: f v + (1 - f) grey of the pixel
/// The three changes are made one after the other. The saturation of an image with one channel is not changed.
struct ColourJitter {
  enum Kind : std::uint8_t { kBrightness, kContrast, kSaturation };

  std::array<double, 3> factor = {1, 1, 1};                           ///< the factor of each Kind; 1: no change
  std::array<Kind, 3> order = {kBrightness, kContrast, kSaturation};  ///< the order in which apply() makes them

  /// Changes pixels (H,W,C) in place. C must be 1 or 3, unless only the brightness is changed.
  void apply(std::uint8_t* pixels, const ImageShape& shape) const;
};

/// Returns whether the parameters change brightness, contrast or saturation.
bool has_jitter(const AugmentParams& params);
/// Draws the factors and the order at random; each order is equally likely.
ColourJitter draw_jitter(const AugmentParams& params, const RandomKey& key);

}  // namespace convoy
