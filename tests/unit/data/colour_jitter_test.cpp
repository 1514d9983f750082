/// Brightness, contrast and saturation equal their definition.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "data/images/auto_augment.h"

namespace convoy {
namespace {

constexpr ImageShape kColoured{9, 7, 3};

std::vector<std::uint8_t> some_pixels(const ImageShape& shape) {
  std::vector<std::uint8_t> pixels;
  for (std::int64_t i = 0; i < shape.count(); ++i) pixels.push_back(static_cast<std::uint8_t>(i * 89 % 256));
  return pixels;
}

std::vector<std::uint8_t> changed(const ColourJitter& jitter, std::vector<std::uint8_t> pixels,
                                  const ImageShape& shape) {
  jitter.apply(pixels.data(), shape);
  return pixels;
}

double grey(const std::vector<std::uint8_t>& pixels, std::size_t pixel) {
  return 0.299 * pixels[3 * pixel] + 0.587 * pixels[3 * pixel + 1] + 0.114 * pixels[3 * pixel + 2];
}

/// Expects the byte to which a value is truncated. float32 is off by 2^-15 at most, which only matters next to a whole
/// number.
void expect_cut_off(std::uint8_t byte, double value) {
  const double clamped = std::clamp(value, 0.0, 255.0);
  EXPECT_GE(byte, std::floor(clamped - 1e-4)) << value;
  EXPECT_LE(byte, std::floor(clamped + 1e-4)) << value;
}

TEST(ColourJitter, EqualsPlainLoopsInDouble) {
  const auto in = some_pixels(kColoured);
  double sum = 0;
  for (std::size_t p = 0; p < 63; ++p) sum += std::rint(grey(in, p));
  const double mean = std::floor(sum / 63 + 0.5);
  for (const double f : {0.0, 0.3, 0.9, 1.1, 1.7, 2.0}) {
    const auto bright = changed({.factor = {f, 1, 1}}, in, kColoured);
    const auto contrast = changed({.factor = {1, f, 1}}, in, kColoured);
    const auto saturated = changed({.factor = {1, 1, f}}, in, kColoured);
    for (std::size_t i = 0; i < in.size(); ++i) {
      expect_cut_off(bright[i], f * in[i]);
      expect_cut_off(contrast[i], mean + f * (in[i] - mean));
      const double plain = std::rint(grey(in, i / 3));
      expect_cut_off(saturated[i], plain + f * (in[i] - plain));
    }
  }
}

TEST(ColourJitter, AFactorOfOneChangesNothing) {
  const auto in = some_pixels(kColoured);
  EXPECT_EQ(changed({}, in, kColoured), in);
}

TEST(ColourJitter, AFlatGreyImageKeepsItsGreyUnderContrastAndSaturation) {
  for (const int value : {0, 1, 100, 254, 255}) {
    for (const ImageShape& shape : {ImageShape{5, 5, 3}, ImageShape{5, 5, 1}}) {
      const std::vector<std::uint8_t> flat(static_cast<std::size_t>(shape.count()), static_cast<std::uint8_t>(value));
      for (const double f : {0.0, 0.37, 1.9}) EXPECT_EQ(changed({.factor = {1, f, f}}, flat, shape), flat) << value;
    }
  }
}

TEST(ColourJitter, TheOrderCounts) {
  const auto in = some_pixels(kColoured);
  using Kind = ColourJitter::Kind;
  const ColourJitter a{.factor = {1.8, 0.3, 1}},
      b{.factor = {1.8, 0.3, 1}, .order = {Kind::kContrast, Kind::kBrightness, Kind::kSaturation}};
  EXPECT_NE(changed(a, in, kColoured), changed(b, in, kColoured));
}

// 6 orders in 6000 draws: a binomial count deviates by sqrt(6000 * 5 / 36) = 28.9; the mean of a factor uniform over
// 0.8 by 0.8 / sqrt(12 * 6000) = 0.003. Six of each.
TEST(ColourJitter, FactorsAreWithinTheirReachAndOrdersAsLikely) {
  const AugmentParams params{.brightness = 0.4, .saturation = 0.1};
  std::map<std::array<ColourJitter::Kind, 3>, int> counts;
  double mean = 0, min = 2, max = 0;
  for (std::uint64_t sample = 0; sample < 6000; ++sample) {
    const ColourJitter jitter = draw_jitter(params, {.seed = 5, .purpose = Purpose::kColour, .item = sample});
    ++counts[jitter.order];
    mean += jitter.factor[0] / 6000;
    min = std::min(min, jitter.factor[0]);
    max = std::max(max, jitter.factor[0]);
    ASSERT_EQ(jitter.factor[1], 1);
    ASSERT_NEAR(jitter.factor[2], 1, 0.1);
  }
  EXPECT_EQ(counts.size(), 6u);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 6 * 28.9);
  EXPECT_NEAR(mean, 1, 6 * 0.003);
  EXPECT_GE(min, 0.6);
  EXPECT_LT(min, 0.61);
  EXPECT_LT(max, 1.4);
  EXPECT_GT(max, 1.39);
}

}  // namespace
}  // namespace convoy
