/// A window of a JPEG has the same bits as in the whole picture, however the file is stored and scaled.
#include <algorithm>
#include <string>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/random.h"

#include "data/images/decode_image.h"
#include "unit/data/image_files.h"

namespace convoy {
namespace {

using test::JpegSpec;
using Bytes = std::vector<std::byte>;

/// An image of noise: no pixel equals its neighbour by chance.
Bytes noisy_jpeg(JpegSpec spec) {
  spec.quality = 90;
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(spec.h * spec.w * spec.channels));
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::uint8_t>(random_below({.seed = 5}, i, 256));
  return make_jpeg(spec, pixels);
}

std::string name_of(const JpegSpec& s) {
  return fmt::format("{} x {}, {} channels, chroma 1/{} x 1/{}{}{}{}{}", s.h, s.w, s.channels, s.across, s.down,
                     s.progressive ? ", progressive" : "", s.arithmetic ? ", arithmetic" : "",
                     s.separate_scans ? ", separate scans" : "", s.restart_rows > 0 ? ", restarts" : "");
}

/// Returns windows at the corners, halves, and at random.
std::vector<Window> some_windows(std::int64_t h, std::int64_t w) {
  std::vector<Window> windows = {
      {0, 0, h, w},     {0, 0, 1, 1},     {h - 1, w - 1, h, w}, {0, w - 1, 1, w},     {h - 1, 0, h, 1},
      {h / 2, 0, h, w}, {0, w / 2, h, w}, {0, 0, h / 2, w},     {0, 0, h, w / 2 + 1}, {h / 2, 0, h / 2 + 1, w}};
  windows.erase(std::remove_if(windows.begin(), windows.end(), [](const Window& x) { return x.top == x.bottom; }),
                windows.end());
  for (std::uint64_t i = 0; i < 40; ++i) {
    const auto below = [i](std::uint64_t k, std::int64_t n) {
      return static_cast<std::int64_t>(random_below({.seed = i}, k, static_cast<std::uint64_t>(n)));
    };
    const std::int64_t top = below(0, h), leftmost = below(1, w);
    windows.push_back({top, leftmost, top + 1 + below(2, h - top), leftmost + 1 + below(3, w - leftmost)});
  }
  return windows;
}

/// Returns the pixels of the view that lie in the window.
std::vector<std::uint8_t> inside(const ImageView& view, const Window& window) {
  EXPECT_TRUE(view.top >= 0 && view.top <= window.top && view.top + view.shape.h >= window.bottom);
  EXPECT_TRUE(view.left >= 0 && view.left <= window.left && view.left + view.shape.w >= window.right);
  std::vector<std::uint8_t> pixels;
  for (std::int64_t y = window.top; y < window.bottom; ++y) {
    const auto at = [&](std::int64_t x) {
      return view.pixels + ((y - view.top) * view.shape.w + x - view.left) * view.shape.c;
    };
    pixels.insert(pixels.end(), at(window.left), at(window.right));
  }
  return pixels;
}

/// Compares in 1 and 3 channels, at all four scales.
void expect_windows_of_the_whole(const Bytes& file, bool orients) {
  ImageDecoder of_parts(orients), of_all(orients);
  const ImageHeader header = of_parts.read_header(file);
  for (const std::int64_t channels : {1, 3}) {
    for (const std::int64_t shrink : {1, 2, 4, 8}) {
      DecodeRequest request{channels, (header.h + shrink - 1) / shrink, (header.w + shrink - 1) / shrink, {}};
      const ImageView all = of_all.decode(file, request);
      ASSERT_EQ(all.shape, decoded_shape(header, request));
      for (const Window& window : some_windows(all.shape.h, all.shape.w)) {
        request.window = window;
        ASSERT_EQ(inside(of_parts.decode(file, request), window), inside(all, window))
            << all.shape.h << " x " << all.shape.w << " in " << channels << " channels: [" << window.top << ", "
            << window.bottom << ") x [" << window.left << ", " << window.right << ")";
      }
    }
  }
}

void expect_windows_of_the_whole(const JpegSpec& spec) {
  SCOPED_TRACE(name_of(spec));
  expect_windows_of_the_whole(noisy_jpeg(spec), false);
}

TEST(DecodeWindow, IsThatOfTheWholePictureAtEveryResolutionOfChroma) {
  for (const int across : {1, 2, 4})
    for (const int down : {1, 2, 4}) {
      if (across * down > 8) continue;  // more than a block may hold
      for (const auto& [h, w] : {std::pair{97, 131}, {64, 96}, {17, 19}, {3, 5}})
        expect_windows_of_the_whole({.h = h, .w = w, .across = across, .down = down});
    }
}

TEST(DecodeWindow, IsThatOfTheWholePictureInEveryKindOfFile) {
  for (JpegSpec spec :
       {JpegSpec{.channels = 1}, JpegSpec{.channels = 1, .across = 2, .down = 2}, JpegSpec{.channels = 4},
        JpegSpec{.channels = 4, .adobe = false}, JpegSpec{.channels = 4, .ycck = true, .across = 2, .down = 2},
        JpegSpec{.progressive = true, .across = 2, .down = 2}, JpegSpec{.channels = 1, .progressive = true},
        JpegSpec{.arithmetic = true, .across = 2, .down = 2}, JpegSpec{.separate_scans = true, .across = 2, .down = 2},
        JpegSpec{.across = 2, .down = 2, .restart_rows = 1}}) {
    spec.h = 75, spec.w = 90;
    expect_windows_of_the_whole(spec);
  }
}

TEST(DecodeWindow, IsThatOfTheWholePictureHoweverItIsTurned) {
  const Bytes file = noisy_jpeg({.h = 75, .w = 90, .across = 2, .down = 2});
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    expect_windows_of_the_whole(test::with_exif(file, test::make_tiff({.orientation = orientation})), true);
  }
}

TEST(DecodeWindow, OutsideOfThePictureIsRefusedAndNextOnesAreFine) {
  ImageDecoder decoder;
  for (const Bytes& file : {test::make_jpeg(), test::make_png()}) {  // 24 x 20
    for (const Window& window : {Window{0, 0, 25, 1}, Window{0, 0, 1, 21}, Window{-1, 0, 1, 1}, Window{0, -1, 1, 1},
                                 Window{3, 0, 3, 1}, Window{0, 4, 1, 3}, Window{1 << 30, 0, (1 << 30) + 1, 1}}) {
      EXPECT_THROW(decoder.decode(file, {.window = window}), Error);
    }
    EXPECT_EQ(inside(decoder.decode(file, {}), {3, 4, 5, 6}),
              inside(decoder.decode(file, {.window = Window{3, 4, 5, 6}}), {3, 4, 5, 6}));
  }
}

TEST(DecodeWindow, LittleElseIsDecoded) {
  ImageDecoder decoder;
  const auto shape = [&](const JpegSpec& spec) {
    return decoder.decode(noisy_jpeg(spec), {.window = Window{60, 70, 80, 100}}).shape;
  };
  EXPECT_EQ(shape({.h = 200, .w = 200}), (ImageShape{24, 102 - 64, 3}));
  EXPECT_EQ(shape({.h = 200, .w = 200, .across = 2, .down = 2}), (ImageShape{24, 102 - 64, 3}));
  // Files of which the library may give other pixels
  EXPECT_EQ(shape({.h = 200, .w = 200, .across = 4}), (ImageShape{200, 200, 3}));
  EXPECT_EQ(shape({.h = 200, .w = 200, .progressive = true}), (ImageShape{200, 200, 3}));
}

TEST(DecodeWindow, DamageOfWhatItDependsOnIsFoundAndNextOnesAreFine) {
  const Bytes file = noisy_jpeg({.h = 200, .w = 200});
  const Bytes half(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(file.size() / 2));
  ImageDecoder decoder;
  EXPECT_NO_THROW(decoder.decode(half, {.window = Window{0, 100, 80, 120}}));
  EXPECT_THROW(decoder.decode(half, {.window = Window{0, 100, 120, 120}}), Error);
  EXPECT_THROW(decoder.decode(half, {.window = Window{160, 0, 180, 20}}), Error) << "rows that are skipped";
  EXPECT_THROW(decoder.decode(half, {}), Error);
  EXPECT_NO_THROW(decoder.decode(half, {.window = Window{0, 0, 80, 200}}));
  EXPECT_NO_THROW(decoder.decode(file, {}));
}

}  // namespace
}  // namespace convoy
