/// Centres are the pixels that torchvision's Resize and CenterCrop cut out; random crops are whole pixels inside the
/// image, of the areas and aspects that were asked for.
#include "data/images/crops.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

namespace convoy {
namespace {

// --- The centre ------------------------------------------------------------------------------------------------------

struct Case {
  ImageShape picture;
  std::int64_t short_side = 0, size = 0;
  std::int64_t resized_h = 0, resized_w = 0, top = 0, left = 0;  ///< Python: int(s * long / short), int(round(d / 2.0))
};

TEST(CentreCrop, RoundsAsTorchvisionDoes) {
  for (const Case& c : {
           Case{{480, 640, 3}, 256, 224, 256, 341, 16, 58},  // 58.5 to the even 58
           Case{{640, 480, 3}, 256, 224, 341, 256, 58, 16},
           Case{{375, 500, 3}, 256, 224, 256, 341, 16, 58},
           Case{{500, 333, 3}, 256, 224, 384, 256, 80, 16},
           Case{{100, 103, 3}, 100, 100, 100, 103, 0, 2},  // 1.5 to 2
           Case{{100, 101, 3}, 100, 100, 100, 101, 0, 0},  // 0.5 to 0
           Case{{100, 105, 3}, 100, 100, 100, 105, 0, 2},  // 2.5 to 2
           Case{{20, 30, 3}, 48, 41, 48, 72, 4, 16},       // 3.5 to 4, 15.5 to 16
           Case{{7, 1000, 3}, 224, 224, 224, 32000, 0, 15888},
           Case{{64, 64, 3}, 64, 64, 64, 64, 0, 0},
       }) {
    const PixelGrid want{
        .rows = {.step = static_cast<double>(c.picture.h) / static_cast<double>(c.resized_h), .first = c.top},
        .columns = {.step = static_cast<double>(c.picture.w) / static_cast<double>(c.resized_w), .first = c.left}};
    EXPECT_EQ(centre_crop(c.picture, c.short_side, c.size), want)
        << to_string(c.picture) << ", " << c.short_side << ", " << c.size;
  }
}

TEST(CentreCrop, OfASquareOfTheRightSizeIsWhatItIs) {
  EXPECT_EQ(centre_crop({32, 32, 3}, 32, 32), PixelGrid{});
}

// An import to the short side and then the centre of that: the pixels have the positions that they would have in the
// picture itself.
TEST(CentreCrop, OfACentreCropIsTheCentreOfThePicture) {
  for (std::int64_t w = 300; w < 340; ++w) {
    const PixelGrid whole = centre_crop({300, w, 3}, 256, 224), import = centre_crop({300, w, 3}, 256, 256),
                    of_import = centre_crop({256, 256, 3}, 256, 224);
    EXPECT_EQ(whole.columns.first, import.columns.first + of_import.columns.first) << w;
    EXPECT_EQ(whole.rows.first, import.rows.first + of_import.rows.first) << w;
    EXPECT_EQ(of_import.columns.step, 1);
  }
}

// --- A random part ---------------------------------------------------------------------------------------------------

Region crop(const ImageShape& image, double min_share, std::uint64_t sample) {
  return random_resized_crop(image, min_share, {.seed = 3, .purpose = Purpose::kResizedCrop, .item = sample});
}

TEST(RandomCrop, LiesInsideInWholePixelsWithAreaAndAspectInBounds) {
  const ImageShape image{375, 500, 3};
  for (std::uint64_t sample = 0; sample < 5000; ++sample) {
    const Region r = crop(image, 0.08, sample);
    for (const double side : {r.top, r.left, r.height, r.width}) ASSERT_EQ(side, std::floor(side));
    ASSERT_GE(std::min(r.top, r.left), 0);
    ASSERT_LE(r.top + r.height, 375);
    ASSERT_LE(r.left + r.width, 500);
    // Each side is rounded by half a pixel at most, the shortest has sqrt(0.08 * 375 * 500 * 3 / 4) = 106: 0.5 % each.
    const double share = r.height * r.width / (375.0 * 500), aspect = r.width / r.height;
    ASSERT_GE(share, 0.08 * 0.99);
    ASSERT_GE(aspect, 0.75 * 0.99);
    ASSERT_LE(aspect, 4.0 / 3 * 1.01);
  }
}

// Parts of up to a fifth of a large square fit in every aspect. So among these the share is uniform in [0.1, 0.2],
// log(aspect) in -+0.288, and positions over the remaining room. A mean of n deviates by range / sqrt(12 n): six of
// these.
TEST(RandomCrop, AreaAspectAndPlaceAreUniform) {
  const ImageShape image{4000, 4000, 3};
  double share = 0, aspect = 0, row = 0, column = 0;
  std::int64_t within = 0;
  constexpr int kNum = 20000;
  for (std::uint64_t sample = 0; sample < kNum; ++sample) {
    const Region r = crop(image, 0.1, sample);
    const double mine = r.height * r.width / 16e6;
    if (mine > 0.2) continue;
    ++within;
    share += mine;
    aspect += std::log(r.width / r.height);
    row += r.top / (4000 - r.height);
    column += r.left / (4000 - r.width);
  }
  // A ninth of the first tries, and some later ones if one was too long for the square.
  EXPECT_GT(within, kNum / 10);
  const auto num = static_cast<double>(within);
  EXPECT_NEAR(share / num, 0.15, 6 * 0.1 / std::sqrt(12 * num));
  EXPECT_NEAR(aspect / num, 0, 6 * 0.576 / std::sqrt(12 * num));
  EXPECT_NEAR(row / num, 0.5, 6 / std::sqrt(12 * num));
  EXPECT_NEAR(column / num, 0.5, 6 / std::sqrt(12 * num));
}

TEST(RandomCrop, FromLongImagesTheCentreIsTakenWhereNoTryFits) {
  for (std::uint64_t sample = 0; sample < 50; ++sample) {
    // All of a 10 x 100 image has aspect 10: nothing of that area fits.
    const Region wide = crop({10, 100, 3}, 1, sample), tall = crop({100, 10, 3}, 1, sample);
    EXPECT_EQ((std::array{wide.top, wide.left, wide.height, wide.width}), (std::array{0.0, 43.0, 10.0, 13.0}));
    EXPECT_EQ((std::array{tall.top, tall.left, tall.height, tall.width}), (std::array{43.0, 0.0, 13.0, 10.0}));
    const Region dot = crop({1, 1, 1}, 0.08, sample);
    EXPECT_EQ((std::array{dot.top, dot.left, dot.height, dot.width}), (std::array{0.0, 0.0, 1.0, 1.0}));
  }
}

// --- What is pasted and what is erased -----------------------------------------------------------------------------

RandomKey key_of(Purpose purpose, std::uint64_t sample) {
  return {.seed = 3, .purpose = purpose, .item = sample};
}

TEST(CutMixBox, HasTheShareOfTheImageAndIsCutOffAtItsEdges) {
  const ImageShape image{30, 50, 3};
  std::int64_t whole = 0;
  for (std::uint64_t sample = 0; sample < 2000; ++sample) {
    const double share = static_cast<double>(sample % 101) / 100;
    const PixelBox box = cutmix_box(image, share, key_of(Purpose::kCutMixBox, sample));
    ASSERT_TRUE(0 <= box.top && box.top <= box.bottom && box.bottom <= image.h);
    ASSERT_TRUE(0 <= box.left && box.left <= box.right && box.right <= image.w);
    const auto height = 2 * static_cast<std::int64_t>(0.5 * std::sqrt(share) * 30),
               width = 2 * static_cast<std::int64_t>(0.5 * std::sqrt(share) * 50);
    ASSERT_LE(box.count(), height * width);
    const bool touches_edge = box.top == 0 || box.left == 0 || box.bottom == image.h || box.right == image.w;
    if (touches_edge) continue;
    ASSERT_EQ(box.count(), height * width) << share;
    ++whole;
  }
  EXPECT_GT(whole, 200);
}

// The share of images that are erased is binomial. Each side is rounded by half a pixel: 0.5 % of the shortest, which
// has sqrt(0.02 * 400 * 600 * 0.3) = 38, times two.
TEST(RandomErasing, TakesARectangleOfTheAreaAndAspectOfThePaper) {
  const ImageShape image{400, 600, 3};
  constexpr int kNum = 10000;
  int erased = 0;
  for (std::uint64_t sample = 0; sample < kNum; ++sample) {
    const PixelBox hole = random_erasing(image, 0.3, key_of(Purpose::kErase, sample));
    if (hole.count() == 0) continue;
    ++erased;
    ASSERT_TRUE(0 <= hole.top && hole.bottom <= image.h && 0 <= hole.left && hole.right <= image.w);
    ASSERT_TRUE(hole.bottom - hole.top < image.h && hole.right - hole.left < image.w);
    const double share = static_cast<double>(hole.count()) / (400.0 * 600),
                 ratio = static_cast<double>(hole.bottom - hole.top) / (hole.right - hole.left);
    ASSERT_GE(share, 0.02 * 0.97);
    ASSERT_LE(share, 0.33 * 1.03);
    ASSERT_GE(ratio, 0.3 * 0.97);
    ASSERT_LE(ratio, 3.3 * 1.03);
  }
  EXPECT_NEAR(erased, 0.3 * kNum, 6 * std::sqrt(0.3 * 0.7 * kNum));
  for (std::uint64_t sample = 0; sample < 100; ++sample) {
    EXPECT_EQ(random_erasing(image, 0, key_of(Purpose::kErase, sample)).count(), 0);
    EXPECT_GT(random_erasing(image, 1, key_of(Purpose::kErase, sample)).count(), 0);
    EXPECT_EQ(random_erasing({1, 1, 1}, 1, key_of(Purpose::kErase, sample)).count(), 0) << "nothing would be left";
  }
}

}  // namespace
}  // namespace convoy
