/// Changes each training image by edits drawn from one fixed list: RandAugment (Cubuk, Zoph, Shlens & Le 2020) and
/// TrivialAugment (Müller & Hutter 2021), as torchvision applies them to PIL images, byte for byte.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "convoy/base/random.h"
#include "convoy/base/shape.h"
#include "convoy/params/choices.h"

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

/// An edit and its magnitude, which is, by kind: columns per row (kShearX), rows per column (kShearY), pixels, degrees,
/// what is added to a factor of 1, bits, threshold. Translations move the image to the right and down; rotations turn
/// it against the clock.
struct ImageEdit {
  EditKind kind = EditKind::kIdentity;
  double magnitude = 0;
};

/// Number of levels between no change and the largest change of a policy.
inline constexpr std::int64_t kNumLevels = 31;

/// Returns the edit of that kind at a level of 0 ... kNumLevels - 1. `negative` gives its direction, and means nothing
/// for an edit without one. `image` is the shape of the edited image: RandAugment's translations are shares of it.
ImageEdit edit_at(AutoAugmentKind policy, EditKind kind, std::int64_t level, bool negative, const ImageShape& image);

struct AutoAugmentSpec {
  AutoAugmentKind policy = AutoAugmentKind::kNone;
  std::int64_t num_edits = 2, level = 9;  ///< for RandAugment; TrivialAugment makes one edit, of a random level
};

/// Draws the edits of one image, in their order. Numbers 3i, 3i + 1 and 3i + 2 of the key are edit i's kind, its level
/// (for TrivialAugment) and its sign.
std::vector<ImageEdit> draw_edits(const AutoAugmentSpec& spec, const ImageShape& image, const RandomKey& key);

/// Changes pixels (H,W,C), C = 1 or 3, in memory that it keeps. Each thread has its own.
class ImageEditor {
 public:
  void apply(const ImageEdit& edit, const ImageShape& shape, std::uint8_t* pixels);

 private:
  std::vector<std::uint8_t> memory_;  ///< as large as an image
};

}  // namespace convoy
