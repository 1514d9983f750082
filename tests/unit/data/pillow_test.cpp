/// An evaluation sees a file as torchvision's Resize and CenterCrop show it by Pillow, up to rounding.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/io/atomic_file.h"

#include "data/images/prepare_image.h"

namespace convoy {
namespace {

using Pixels = std::vector<std::uint8_t>;

std::vector<std::byte> read(const std::string& name) {
  return io::read_file(fmt::format("{}/{}", CONVOY_PILLOW_PICTURES, name));
}

Pixels decoded(const std::string& name) {
  ImageDecoder decoder;
  const auto pixels = decoder.decode(read(name), {.channels = 3}).bytes();
  return {pixels.begin(), pixels.end()};
}

struct View {
  std::string picture;
  std::int64_t short_side = 0, size = 0;
};

Pixels seen_in_evaluation(const View& view) {
  const Augmenter augmenter({0, 0, 3}, {.size = view.size, .short_side = view.short_side}, {0, 0, 0}, {1, 1, 1});
  ImagePreparer preparer(augmenter);
  const auto file = read(view.picture);
  const std::uint8_t* const pixels = preparer.prepare({.file = file}).pixels;
  return {pixels, pixels + augmenter.image().count()};
}

// Pillow rounds after each of its two passes, Convoy once, and Convoy's weights are multiples of 2^-14: of the 14 that
// a step of 6.7 asks for, each is off by less than one unit and the largest by their sum. In all
// 0.5 + 0.5 + 0.5 + 2 axes * 2 * 14 * 2^-14 * 255 = 2.4 at most. On average the two differ by what Pillow's first
// rounding leaves after it is averaged again.
TEST(Pillow, AgreesWithWhatAnEvaluationSees) {
  double sum = 0;
  std::int64_t count = 0;
  for (const View& view :
       {View{"wide.jpg", 64, 56}, View{"wide.jpg", 37, 32}, View{"wide.jpg", 32, 32}, View{"tall.jpg", 48, 48},
        View{"tall.jpg", 50, 43}, View{"tiny.jpg", 48, 41}, View{"flat.png", 32, 32}, View{"flat.png", 57, 57},
        View{"even.png", 64, 64}, View{"even.png", 64, 57}, View{"even.png", 32, 28}}) {
    const std::string stem = view.picture.substr(0, view.picture.find('.'));
    const Pixels want = decoded(fmt::format("{}-{}-{}.png", stem, view.short_side, view.size));
    const Pixels got = seen_in_evaluation(view);
    ASSERT_EQ(got.size(), want.size());
    double difference = 0;
    int largest = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      const int d = std::abs(got[i] - want[i]);
      difference += d;
      largest = std::max(largest, d);
    }
    EXPECT_LE(largest, 2) << view.picture << ", short side " << view.short_side << ", size " << view.size << ": mean "
                          << difference / static_cast<double>(want.size());
    sum += difference;
    count += std::ssize(want);
  }
  EXPECT_LT(sum / static_cast<double>(count), 0.25);
}

TEST(Pillow, TurnsPicturesAsTheirExifSaysAndSoDoesTheDecoder) {
  ImageDecoder as_stored, upright(true);
  for (int value = 1; value <= 8; ++value) {
    const auto file = read(fmt::format("orientation-{}.jpg", value));
    const auto png = read(fmt::format("orientation-{}-turned.png", value));
    const ImageView want = as_stored.decode(png, {.channels = 3}), got = upright.decode(file, {.channels = 3});
    ASSERT_EQ(got.shape, want.shape) << value;
    EXPECT_TRUE(std::ranges::equal(got.bytes(), want.bytes())) << value;
    const ImageHeader header = upright.read_header(file);
    EXPECT_EQ((ImageShape{header.h, header.w, 3}), want.shape) << value;
    EXPECT_EQ(as_stored.decode(file, {.channels = 3}).shape, (ImageShape{26, 37, 3})) << "not asked for";
  }
}

}  // namespace
}  // namespace convoy
