/// Drawn changes of samples and values of bytes equal their definitions, for any number of channels.
#include "data/images/augmenter.h"

#include <array>
#include <cmath>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/random.h"

#include "reference/image_batch.h"

namespace convoy {
namespace {

struct Case {
  ImageShape image;
  AugmentationSpec spec;
};

AugmentationSpec cropped(std::int64_t padding, bool flips, std::uint64_t seed) {
  return {.params = {.crop_padding = padding, .flip = flips}, .seed = seed};
}

std::vector<std::uint8_t> some_image(const ImageShape& shape) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(1 + i * 7 % 255);
  return bytes;
}

std::vector<double> means(std::int64_t channels) {
  std::vector<double> values;
  for (std::int64_t c = 0; c < channels; ++c) values.push_back(0.3 + 0.1 * static_cast<double>(c));
  return values;
}

/// Returns what the network sees of an image that is cut in this way.
std::vector<float> seen(const Augmenter& augmenter, const std::vector<std::uint8_t>& image, const ops::ImageCut& cut) {
  const reference::Array values = reference::image_batch(
      {.x = augmenter.image().batch(1), .value_of = augmenter.value_of(), .border = augmenter.spec().params.border},
      image, {cut});
  return {values.begin(), values.end()};
}

/// Computes the definition, in the order of its words.
std::vector<float> expected(const Case& c, const std::vector<std::uint8_t>& image, std::int64_t epoch,
                            std::int64_t sample) {
  const auto key = [&](Purpose purpose) {
    return RandomKey{c.spec.seed, purpose, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(sample)};
  };
  const auto range = static_cast<std::uint64_t>(2 * c.spec.params.crop_padding + 1);
  const auto dy = static_cast<std::int64_t>(random_below(key(Purpose::kCrop), 0, range)) - c.spec.params.crop_padding;
  const auto dx = static_cast<std::int64_t>(random_below(key(Purpose::kCrop), 1, range)) - c.spec.params.crop_padding;
  const bool flip = c.spec.mirrors || (c.spec.params.flip && random_below(key(Purpose::kFlip), 0, 2) == 1);
  const std::vector<double> mean = means(c.image.c), stddev(mean.size(), 0.25);
  std::vector<float> out;
  for (std::int64_t y = 0; y < c.image.h; ++y) {
    for (std::int64_t x = 0; x < c.image.w; ++x) {
      const std::int64_t row = y + dy, column = (flip ? c.image.w - 1 - x : x) + dx;
      const bool inside = row >= 0 && row < c.image.h && column >= 0 && column < c.image.w;
      for (std::int64_t k = 0; k < c.image.c; ++k) {
        const auto i = static_cast<std::size_t>((row * c.image.w + column) * c.image.c + k);
        const double value = inside ? image[i] / 255.0 : 0.0;
        out.push_back(
            static_cast<float>((value - mean[static_cast<std::size_t>(k)]) / stddev[static_cast<std::size_t>(k)]));
      }
    }
  }
  return out;
}

TEST(Augmenter, EqualsItsDefinitionToTheBit) {
  const std::vector<Case> cases = {{{28, 28, 1}, cropped(4, true, 1)},
                                   {{32, 32, 3}, cropped(4, true, 2)},
                                   {{5, 7, 2}, cropped(2, true, 3)},
                                   {{3, 2, 4}, cropped(9, true, 4)},  // crops may miss the image
                                   {{1, 1, 1}, cropped(1, true, 5)},
                                   {{6, 5, 3}, cropped(0, true, 6)},
                                   {{6, 5, 3}, cropped(3, false, 7)},
                                   {{6, 5, 1}, cropped(0, false, 8)},
                                   {{6, 5, 3}, {.mirrors = true, .seed = 9}},
                                   {{6, 5, 2}, {.params = {.crop_padding = 2}, .mirrors = true, .seed = 10}}};
  for (const Case& c : cases) {
    const Augmenter augmenter(c.image, c.spec, means(c.image.c),
                              std::vector<double>(static_cast<std::size_t>(c.image.c), 0.25));
    const auto image = some_image(c.image);
    for (std::int64_t sample = 0; sample < 200; ++sample) {
      const auto out = seen(augmenter, image, augmenter.cut(sample % 3, sample));
      const auto want = expected(c, image, sample % 3, sample);
      ASSERT_EQ(out, want) << to_string(c.image) << " padding " << c.spec.params.crop_padding << " sample " << sample;
    }
  }
}

TEST(Augmenter, WithoutAnythingGivesTheByteOver255) {
  const ImageShape shape{2, 128, 1};
  const Augmenter augmenter(shape, {}, {0}, {1});
  std::vector<std::uint8_t> image(256);
  for (std::size_t v = 0; v < 256; ++v) image[v] = static_cast<std::uint8_t>(v);
  const auto out = seen(augmenter, image, augmenter.cut(0, 0));
  for (std::size_t v = 0; v < 256; ++v) EXPECT_EQ(out[v], static_cast<float>(static_cast<double>(v) / 255)) << v;
}

TEST(Augmenter, BlackIsByteZeroNormalised) {
  const Augmenter augmenter({3, 4, 2}, {}, {0.5, 0.25}, {0.25, 0.5});
  const auto out = seen(augmenter, some_image({3, 4, 2}), {.is_padding = 1});
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(out[i], i % 2 == 0 ? -2.0f : -0.5f);
}

TEST(Augmenter, ChannelThatNeverVariesStaysFinite) {
  const Augmenter augmenter({1, 1, 1}, {}, {1.0}, {0.0});
  EXPECT_EQ(seen(augmenter, {255}, augmenter.cut(0, 0)), std::vector<float>{0});
}

// 9 * 9 crops and 2 flips, each drawn 20000 / 162 = 123 times on average; a binomial count deviates by 6 * 11.1 at most
// with p > 1 - 1e-6 for all together.
TEST(Augmenter, EveryCropAndFlipIsAsLikelyAsTheOthers) {
  const ImageShape shape{9, 9, 1};
  const Augmenter augmenter(shape, cropped(4, true, 11), {0}, {1});
  std::vector<std::uint8_t> image(81);
  for (std::size_t i = 0; i < 81; ++i) image[i] = static_cast<std::uint8_t>(i + 1);
  std::map<std::array<float, 2>, int> counts;  // the centre says which crop, its neighbour which flip
  for (std::int64_t sample = 0; sample < 20000; ++sample) {
    const auto out = seen(augmenter, image, augmenter.cut(0, sample));
    ++counts[{out[40], out[39] - out[41]}];
  }
  std::map<float, int> centres;
  for (const auto& [what, count] : counts) centres[what[0]] += count;
  EXPECT_EQ(centres.size(), 81u);
  for (const auto& [centre, count] : centres) EXPECT_NEAR(count, 20000.0 / 81, 6 * 15.7) << centre;
}

TEST(Augmenter, EpochsAndSamplesDrawAnew) {
  const ImageShape shape{9, 9, 1};
  const Augmenter augmenter(shape, cropped(4, true, 12), {0}, {1});
  const auto image = some_image(shape);
  const auto first = seen(augmenter, image, augmenter.cut(0, 0));
  EXPECT_EQ(first, seen(augmenter, image, augmenter.cut(0, 0)));
  int same = 0;  // 1 of 162 by chance: above 20 of 400 with p < 1e-10
  for (std::int64_t i = 1; i <= 200; ++i) {
    same += seen(augmenter, image, augmenter.cut(i, 0)) == first;
    same += seen(augmenter, image, augmenter.cut(0, i)) == first;
  }
  EXPECT_LE(same, 20);
}

// Its centre is uniform over the image: 64 positions of a square of 4, each drawn 6400 / 64 = 100 times, +- 6 * 9.9.
TEST(Augmenter, CutoutIsASquareOfZerosWhoseCentreIsAnywhere) {
  const ImageShape shape{8, 8, 3};
  AugmentationSpec spec = cropped(2, true, 3);
  const Augmenter whole(shape, spec, {0.5, 0.5, 0.5}, {1, 1, 1});
  spec.params.cutout = 4;
  const Augmenter holed(shape, spec, {0.5, 0.5, 0.5}, {1, 1, 1});
  const auto image = some_image(shape);
  std::map<std::array<std::int32_t, 2>, int> counts;
  for (std::int64_t sample = 0; sample < 6400; ++sample) {
    const ops::ImageCut cut = holed.cut(1, sample);
    // The centre of a hole that sticks out at the top or left follows from its end, otherwise from its beginning.
    const std::int32_t y = cut.hole_top > 0 ? cut.hole_top + 2 : cut.hole_bottom - 2;
    const std::int32_t x = cut.hole_left > 0 ? cut.hole_left + 2 : cut.hole_right - 2;
    ++counts[{y, x}];
    const auto want = seen(whole, image, whole.cut(1, sample)), out = seen(holed, image, cut);
    for (std::int64_t row = 0; row < 8; ++row)
      for (std::int64_t column = 0; column < 8; ++column)
        for (std::int64_t c = 0; c < 3; ++c) {
          const bool hole = row >= y - 2 && row < y + 2 && column >= x - 2 && column < x + 2;
          const auto i = static_cast<std::size_t>((row * 8 + column) * 3 + c);
          ASSERT_EQ(out[i], hole ? 0.0f : want[i]) << sample << ": " << row << ", " << column;
        }
  }
  EXPECT_EQ(counts.size(), 64u);
  for (const auto& [centre, count] : counts) EXPECT_NEAR(count, 100, 6 * 9.9) << centre[0] << ", " << centre[1];
}

TEST(Augmenter, MeansOfAnotherChannelCountAreRefused) {
  EXPECT_THROW(Augmenter({4, 4, 3}, {}, {0}, {1}), Error);
}

}  // namespace
}  // namespace convoy
