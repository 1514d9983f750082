/// The edits of RandAugment and TrivialAugment against small cases by hand and plain loops. tests/torch shows that
/// every one of them has torchvision's bytes.
#include "data/images/auto_augment.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "data/images/colour_edits.h"

namespace convoy {
namespace {

using Bytes = std::vector<std::uint8_t>;
using enum EditKind;

Bytes edited(const ImageEdit& edit, const ImageShape& shape, Bytes pixels) {
  ImageEditor().apply(edit, shape, pixels.data());
  return pixels;
}

TEST(AutoAugment, MovesPixelsToWhereTheGeometrySaysAndFillsWithBlack) {
  const ImageShape shape{3, 4, 1};
  const Bytes in = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_EQ(edited({kTranslateX, 1.9}, shape, in), (Bytes{0, 1, 2, 3, 0, 5, 6, 7, 0, 9, 10, 11}));
  EXPECT_EQ(edited({kTranslateX, -1.9}, shape, in), (Bytes{2, 3, 4, 0, 6, 7, 8, 0, 10, 11, 12, 0}));
  EXPECT_EQ(edited({kTranslateY, 1}, shape, in), (Bytes{0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}));
  // The middle of row y is at y + 0.5: columns come from x + 0.5 + 0.5 (y + 0.5), rounded down.
  EXPECT_EQ(edited({kShearX, 0.5}, shape, in), (Bytes{1, 2, 3, 4, 6, 7, 8, 0, 10, 11, 12, 0}));
  EXPECT_EQ(edited({kShearY, 0.5}, shape, in), (Bytes{1, 6, 7, 12, 5, 10, 11, 0, 9, 0, 0, 0}));
}

TEST(AutoAugment, RightAnglesAreExactAndPositiveOnesTurnAgainstTheClock) {
  const ImageShape shape{2, 2, 3};
  const Bytes in = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_EQ(edited({kRotate, 90}, shape, in), (Bytes{4, 5, 6, 10, 11, 12, 1, 2, 3, 7, 8, 9}));
  EXPECT_EQ(edited({kRotate, -90}, shape, in), (Bytes{7, 8, 9, 1, 2, 3, 10, 11, 12, 4, 5, 6}));
  EXPECT_EQ(edited({kRotate, 0}, shape, in), in);
}

TEST(AutoAugment, PosterizesAndSolarizes) {
  const ImageShape shape{1, 4, 1};
  const Bytes in = {0, 100, 200, 255};
  EXPECT_EQ(edited({kPosterize, 2}, shape, in), (Bytes{0, 64, 192, 192}));
  EXPECT_EQ(edited({kPosterize, 8}, shape, in), in);
  EXPECT_EQ(edited({kSolarize, 200}, shape, in), (Bytes{0, 100, 55, 0}));
  EXPECT_EQ(edited({kSolarize, 255.5}, shape, in), in);
}

TEST(AutoAugment, StretchesEachChannelToTheWholeRange) {
  // Channel 0: 50 to 101, five times as wide; 1: already whole; 2: flat, which stays.
  EXPECT_EQ(edited({kAutoContrast}, {1, 3, 3}, {50, 0, 9, 75, 7, 9, 101, 255, 9}),
            (Bytes{0, 0, 9, 125, 7, 9, 255, 255, 9}));
}

TEST(AutoAugment, EqualizesByHowManyPixelsAreDarker) {
  // 510, 510 and 255 pixels: 4 for each value that comes out, so (510 + 2) / 4 and (1020 + 2) / 4.
  Bytes in(1275, 3);
  std::fill_n(in.begin(), 510, std::uint8_t{1});
  std::fill_n(in.begin() + 510, 510, std::uint8_t{2});
  Bytes want(1275, 255);
  std::fill_n(want.begin(), 510, std::uint8_t{0});
  std::fill_n(want.begin() + 510, 510, std::uint8_t{128});
  EXPECT_EQ(edited({kEqualize}, {51, 25, 1}, in), want);
  const Bytes few = {1, 2, 3, 4};  // fewer than 255 pixels are not spread
  EXPECT_EQ(edited({kEqualize}, {2, 2, 1}, few), few);
}

// Pixels with eight neighbours are smoothed: factor 0 gives that, 1 the image, 2 the same distance to the other side.
TEST(AutoAugment, SharpensAwayFromTheSmoothedImage) {
  const ImageShape shape{3, 3, 1};
  const Bytes in = {10, 20, 30, 40, 130, 60, 70, 80, 90};
  // (400 + 5 * 130) / 13 = 80.8, rounded to 81.
  EXPECT_EQ(edited({kSharpness, -1}, shape, in), (Bytes{10, 20, 30, 40, 81, 60, 70, 80, 90}));
  EXPECT_EQ(edited({kSharpness, 0}, shape, in), in);
  EXPECT_EQ(edited({kSharpness, 0.5}, shape, in), (Bytes{10, 20, 30, 40, 154, 60, 70, 80, 90}));  // 154.5 cut off
  EXPECT_EQ(edited({kSharpness, -1}, {1, 3, 3}, in), in) << "no pixel has eight neighbours";
}

TEST(AutoAugment, LevelsGoFromNoneToTheLargest) {
  const ImageShape shape{100, 662, 3};
  constexpr auto kWide = AutoAugmentKind::kTrivial, kRand = AutoAugmentKind::kRand;
  for (const EditKind kind : {kShearX, kShearY, kTranslateX, kTranslateY, kRotate, kBrightness, kSharpness}) {
    EXPECT_EQ(edit_at(kWide, kind, 0, false, shape).magnitude, 0);
    EXPECT_EQ(edit_at(kWide, kind, 30, true, shape).magnitude, -edit_at(kWide, kind, 30, false, shape).magnitude);
  }
  EXPECT_EQ(edit_at(kWide, kShearX, 30, false, shape).magnitude, 0.99f);
  EXPECT_EQ(edit_at(kRand, kShearX, 30, false, shape).magnitude, 0.3f);
  EXPECT_EQ(edit_at(kWide, kRotate, 20, true, shape).magnitude, -90);
  EXPECT_EQ(edit_at(kWide, kTranslateX, 30, false, shape).magnitude, 32);
  EXPECT_EQ(edit_at(kRand, kTranslateX, 30, false, shape).magnitude, 300);
  EXPECT_EQ(edit_at(kRand, kTranslateY, 30, false, shape).magnitude, static_cast<float>(150.0 / 331 * 100));
  EXPECT_EQ(edit_at(kWide, kPosterize, 30, true, shape).magnitude, 2) << "without a sign";
  EXPECT_EQ(edit_at(kRand, kPosterize, 30, true, shape).magnitude, 4);
  EXPECT_EQ(edit_at(kRand, kPosterize, 0, true, shape).magnitude, 8);
  EXPECT_EQ(edit_at(kRand, kSolarize, 0, false, shape).magnitude, 255);
  EXPECT_EQ(edit_at(kRand, kSolarize, 30, false, shape).magnitude, 0);
}

TEST(AutoAugment, DrawsEachEditAsOftenAndTheLevelOnlyOfTrivialAugment) {
  const ImageShape shape{8, 8, 3};
  EXPECT_TRUE(draw_edits({}, shape, {}).empty());
  std::map<EditKind, int> counts;
  std::set<double> wide, rand;
  constexpr int kDraws = 14000;
  for (std::uint64_t sample = 0; sample < kDraws; ++sample) {
    const RandomKey key{.seed = 3, .purpose = Purpose::kAutoAugment, .item = sample};
    const auto trivial = draw_edits({.policy = AutoAugmentKind::kTrivial, .policy_operations = 5}, shape, key);
    ASSERT_EQ(trivial.size(), 1u);
    ++counts[trivial[0].kind];
    if (trivial[0].kind == kRotate) wide.insert(trivial[0].magnitude);
    const auto several =
        draw_edits({.policy = AutoAugmentKind::kRand, .policy_operations = 5, .policy_magnitude = 10}, shape, key);
    ASSERT_EQ(several.size(), 5u);
    for (const ImageEdit& edit : several)
      if (edit.kind == kRotate) rand.insert(edit.magnitude);
  }
  EXPECT_EQ(counts.size(), 14u);
  // A binomial count deviates by sqrt(14000 * 13 / 196) = 30.5: six of them.
  for (const auto& [kind, count] : counts) EXPECT_NEAR(count, 1000, 183);
  EXPECT_EQ(wide.size(), 61u) << "30 levels in two directions, and none";
  EXPECT_EQ(rand, (std::set<double>{-10, 10}));
}

}  // namespace
}  // namespace convoy
