/// Every kind of JPEG and PNG gives the pixels that it was made from; a file that claims too much or is cut off is
/// refused.
#include "data/images/decode_image.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "unit/data/image_files.h"
#include "unit/messages.h"
#include "unit/mutations.h"

namespace convoy {
namespace {

using test::JpegSpec;
using test::make_jpeg;
using test::make_png;
using test::message_of;
using test::smooth_byte;
using Bytes = std::vector<std::byte>;

// JPEG at quality 100: 64 coefficients, each off by at most 1/2; the transform keeps lengths, so a pixel is off by at
// most sqrt(64) / 2 = 4, as R = Y + 1.4 (Cr - 128) by 4 + 1.4 * 4 and roundings. Channels differ by 60.
constexpr int kJpegTolerance = 11;

using Expected = std::function<int(int y, int x, int c)>;

void expect_pixels(const ImageView& image, const ImageShape& shape, int tolerance, const Expected& expected) {
  ASSERT_EQ(image.shape, shape);
  for (int y = 0; y < shape.h; ++y) {
    for (int x = 0; x < shape.w; ++x) {
      for (int c = 0; c < shape.c; ++c) {
        const int got = image.pixels[(y * shape.w + x) * shape.c + c];
        ASSERT_LE(std::abs(got - expected(y, x, c)), tolerance)
            << y << " " << x << " " << c << ": " << got << " for " << expected(y, x, c);
      }
    }
  }
}

int expected_luma(int r, int g, int b) {
  return static_cast<int>(std::lround(0.299 * r + 0.587 * g + 0.114 * b));
}

// --- JPEG ------------------------------------------------------------------------------------------------------------

TEST(DecodeJpeg, ColourComesAsItWentIn) {
  ImageDecoder decoder;
  for (const bool progressive : {false, true}) {
    for (const bool arithmetic : {false, true}) {
      const Bytes file = make_jpeg({.progressive = progressive, .arithmetic = arithmetic});
      expect_pixels(decoder.decode(file, {}), {24, 20, 3}, kJpegTolerance, smooth_byte);
    }
  }
}

TEST(DecodeJpeg, GreyComesAsItWentInAndInThreeEqualChannels) {
  ImageDecoder decoder;
  const Bytes file = make_jpeg({.channels = 1});
  EXPECT_TRUE(decoder.read_header(file).grey);
  const auto grey = [](int y, int x, int) { return smooth_byte(y, x, 0); };
  expect_pixels(decoder.decode(file, {.channels = 1}), {24, 20, 1}, 5, grey);
  expect_pixels(decoder.decode(file, {.channels = 3}), {24, 20, 3}, 5, grey);
}

TEST(DecodeJpeg, ColourAsGreyIsItsLuma) {
  ImageDecoder decoder;
  const Bytes file = make_jpeg();
  EXPECT_FALSE(decoder.read_header(file).grey);
  expect_pixels(decoder.decode(file, {.channels = 1}), {24, 20, 1}, kJpegTolerance, [](int y, int x, int) {
    return expected_luma(smooth_byte(y, x, 0), smooth_byte(y, x, 1), smooth_byte(y, x, 2));
  });
}

TEST(DecodeJpeg, FourChannelsBecomeRgbAndAreInvertedWithAndWithoutAdobesSegment) {
  ImageDecoder decoder;
  for (const JpegSpec& spec :
       {JpegSpec{.channels = 4}, JpegSpec{.channels = 4, .ycck = true}, JpegSpec{.channels = 4, .adobe = false}}) {
    const Bytes file = make_jpeg(spec);
    const auto rgb = [&](int y, int x, int c) { return smooth_byte(y, x, c) * smooth_byte(y, x, 3) / 255; };
    // A product of two values, each off by the tolerance, over 255: twice it at most.
    expect_pixels(decoder.decode(file, {}), {24, 20, 3}, 2 * kJpegTolerance, rgb);
    expect_pixels(decoder.decode(file, {.channels = 1}), {24, 20, 1}, 2 * kJpegTolerance,
                  [&](int y, int x, int) { return expected_luma(rgb(y, x, 0), rgb(y, x, 1), rgb(y, x, 2)); });
  }
}

TEST(DecodeJpeg, IsScaledDownAsFarAsWhatIsAskedForAllows) {
  ImageDecoder decoder;
  const Bytes file = make_jpeg({.h = 32, .w = 24});
  EXPECT_EQ(decoder.decode(file, {.min_h = 33, .min_w = 1}).shape, (ImageShape{32, 24, 3}));
  EXPECT_EQ(decoder.decode(file, {.min_h = 17, .min_w = 12}).shape, (ImageShape{32, 24, 3}));
  EXPECT_EQ(decoder.decode(file, {.min_h = 16, .min_w = 12}).shape, (ImageShape{16, 12, 3}));
  EXPECT_EQ(decoder.decode(file, {.min_h = 8, .min_w = 6}).shape, (ImageShape{8, 6, 3}));
  // 1/8: the mean of 8 x 8 pixels, whose middle the pattern's value there is.
  expect_pixels(decoder.decode(file, {.min_h = 1, .min_w = 1}), {4, 3, 3}, kJpegTolerance,
                [](int y, int x, int c) { return smooth_byte(8 * y + 3, 8 * x + 4, c); });
}

TEST(DecodeJpeg, EveryTruncationIsRefused) {
  ImageDecoder decoder;
  for (const bool progressive : {false, true}) {
    const Bytes file = make_jpeg({.progressive = progressive, .quality = 80});
    for (std::size_t size = 0; size + 2 < file.size(); ++size) {  // only the mark of the end may be missing
      const std::string message = message_of<Error>([&] { decoder.decode(std::span(file).first(size), {}); });
      EXPECT_TRUE(message.starts_with("it is ")) << size << ": " << message;
    }
    decoder.decode(file, {});
  }
}

// Start of frame: 2 bytes of mark, 2 of length, 1 of precision, then height and width.
Bytes with_dimensions(Bytes file, int h, int w) {
  for (std::size_t i = 0; i + 9 < file.size(); ++i) {
    if (file[i] != std::byte{0xff} || (file[i + 1] != std::byte{0xc0} && file[i + 1] != std::byte{0xc2})) continue;
    file[i + 5] = std::byte(h >> 8), file[i + 6] = std::byte(h & 255);
    file[i + 7] = std::byte(w >> 8), file[i + 8] = std::byte(w & 255);
    break;
  }
  return file;
}

TEST(DecodeJpeg, HugeHeadersAreRefusedBeforeMemoryIsTaken) {
  ImageDecoder decoder;
  for (const bool progressive : {false, true}) {
    const Bytes file = make_jpeg({.progressive = progressive});
    const auto message = [&](int h, int w) {
      return message_of<Error>([&] { decoder.decode(with_dimensions(file, h, w), {}); });
    };
    EXPECT_CONTAINS(message(16385, 20), "at most 16384 per side");
    EXPECT_CONTAINS(message(20, 65500), "at most 16384 per side");
    EXPECT_CONTAINS(message(16384, 16384), "16384 x 16384 pixels, but it has only");
  }
}

TEST(DecodeJpeg, EndlessScansAreRefused) {
  const Bytes file = make_jpeg({.separate_scans = true});
  ImageDecoder decoder;
  expect_pixels(decoder.decode(file, {}), {24, 20, 3}, kJpegTolerance, smooth_byte);
  // The last scan again and again, before the mark of the end.
  std::size_t scan = 0;
  for (std::size_t i = 0; i + 1 < file.size(); ++i) {
    if (file[i] == std::byte{0xff} && file[i + 1] == std::byte{0xda}) scan = i;
  }
  Bytes bomb(file.begin(), file.end() - 2);
  const Bytes last(file.begin() + static_cast<std::ptrdiff_t>(scan), file.end() - 2);
  for (int i = 0; i < 300; ++i) bomb.insert(bomb.end(), last.begin(), last.end());
  bomb.insert(bomb.end(), {std::byte{0xff}, std::byte{0xd9}});
  EXPECT_CONTAINS(message_of<Error>([&] { decoder.decode(bomb, {}); }), "it has more than 100 scans");
}

// --- PNG -------------------------------------------------------------------------------------------------------------

TEST(DecodePng, EveryTypeAndDepthComesAsItWentIn) {
  ImageDecoder decoder;
  for (const bool interlaced : {false, true}) {
    for (const int depth : {8, 16}) {
      for (const int type : {2, 6}) {
        const Bytes file = make_png({.color_type = type, .bit_depth = depth, .interlaced = interlaced});
        EXPECT_FALSE(decoder.read_header(file).grey);
        expect_pixels(decoder.decode(file, {}), {24, 20, 3}, 0, smooth_byte);
        expect_pixels(decoder.decode(file, {.channels = 1}), {24, 20, 1}, 1, [](int y, int x, int) {
          return expected_luma(smooth_byte(y, x, 0), smooth_byte(y, x, 1), smooth_byte(y, x, 2));
        });
      }
    }
    for (const int depth : {1, 2, 4, 8, 16}) {
      for (const int type : {0, 4}) {
        if (type == 4 && depth < 8) continue;
        const Bytes file = make_png({.color_type = type, .bit_depth = depth, .interlaced = interlaced});
        EXPECT_TRUE(decoder.read_header(file).grey);
        const auto grey = [&](int y, int x, int) {  // the high bits, spread over 0 to 255
          const int bits = std::min(depth, 8);
          return (smooth_byte(y, x, 0) >> (8 - bits)) * 255 / ((1 << bits) - 1);
        };
        expect_pixels(decoder.decode(file, {.channels = 1}), {24, 20, 1}, 0, grey);
        expect_pixels(decoder.decode(file, {.channels = 3}), {24, 20, 3}, 0, grey);
      }
    }
  }
}

TEST(DecodePng, PalettesAreLookedUp) {
  ImageDecoder decoder;
  for (const int depth : {1, 2, 4, 8}) {
    const auto index = [&](int y, int x) { return smooth_byte(y, x, 0) >> (8 - depth); };
    const Bytes file = make_png({.color_type = 3, .bit_depth = depth});
    EXPECT_FALSE(decoder.read_header(file).grey);
    expect_pixels(decoder.decode(file, {}), {24, 20, 3}, 0, [&](int y, int x, int c) {
      return c == 0 ? index(y, x) : c == 1 ? 255 - index(y, x) : index(y, x) / 2;
    });
    const Bytes grey = make_png({.color_type = 3, .bit_depth = depth, .grey_palette = true});
    EXPECT_TRUE(decoder.read_header(grey).grey);
    expect_pixels(decoder.decode(grey, {.channels = 1}), {24, 20, 1}, 0,
                  [&](int y, int x, int) { return index(y, x); });
  }
}

TEST(DecodePng, EveryTruncationIsRefused) {
  ImageDecoder decoder;
  const Bytes file = make_png();
  for (std::size_t size = 0; size < file.size(); ++size) {
    const std::string message = message_of<Error>([&] { decoder.decode(std::span(file).first(size), {}); });
    EXPECT_TRUE(message.starts_with("it is ")) << size << ": " << message;
  }
}

TEST(DecodePng, HugeHeadersAreRefusedBeforeMemoryIsTaken) {
  // The header's checksum has to be right for the dimensions to be believed: made with few rows of many pixels.
  ImageDecoder decoder;
  EXPECT_CONTAINS(message_of<Error>([&] { decoder.decode(make_png({.h = 1, .w = 16385}), {}); }), "it is damaged");
  EXPECT_CONTAINS(message_of<Error>([&] { decoder.decode(make_png({.h = 16385, .w = 1}), {}); }), "it is damaged");
  const Bytes flat = make_png({.h = 5000, .w = 5000, .color_type = 0, .bit_depth = 1});
  EXPECT_CONTAINS(message_of<Error>([&] { decoder.decode(std::span(flat).first(2000), {}); }),
                  "5000 x 5000 pixels, but it has only 2000 bytes");
}

TEST(DecodePng, AChunkThatClaimsMoreThanTheFileHasTakesNoMemory) {
  ImageDecoder decoder;
  const Bytes file = make_png({.text = "a comment"});
  const auto decode = [&](const Bytes& bytes) { return message_of<Error>([&] { decoder.decode(bytes, {}); }); };
  const Bytes comment(file.begin() + 33, file.begin() + 33 + 12 + 17);  // after signature and header
  Bytes with_comment = file;
  with_comment.insert(with_comment.end() - 12, comment.begin(), comment.end());  // before the end, which is empty
  ASSERT_EQ(decode(with_comment), "(nothing was thrown)");
  const std::size_t at_start = 33, at_end = with_comment.size() - 12 - comment.size();
  for (const std::size_t at : {at_start, at_end}) {
    for (const auto most_significant : {std::byte{0x7f}, std::byte{0xff}}) {
      Bytes bytes = with_comment;
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 4, std::byte{0xff});
      bytes[at] = most_significant;
      const test::ReaderGuard guard;
      EXPECT_EQ(decode(bytes), "it is damaged: it ends too early");
    }
  }
}

// --- Both ------------------------------------------------------------------------------------------------------------

TEST(DecodeImage, GoesByTheContent) {
  ImageDecoder decoder;
  const auto message = [&](const std::string& text) {
    return message_of<Error>([&] { decoder.decode(std::as_bytes(std::span(text)), {}); });
  };
  EXPECT_EQ(message(""), "it is empty");
  EXPECT_CONTAINS(message("GIF89a"), "it is a GIF image, neither a JPEG nor a PNG. Convert it to PNG");
  EXPECT_EQ(message("no image"), "it is neither a JPEG nor a PNG");
  EXPECT_EQ(message("\xff\xd8"), "it is neither a JPEG nor a PNG");
  EXPECT_CONTAINS(message("\xff\xd8\xff\xe0"), "it is damaged");
}

TEST(DecodeImage, OneDecoderTakesAnyOrderOfGoodAndBadOnes) {
  ImageDecoder decoder;
  const Bytes jpeg = make_jpeg(), png = make_png();
  for (int round = 0; round < 3; ++round) {
    expect_pixels(decoder.decode(jpeg, {}), {24, 20, 3}, kJpegTolerance, smooth_byte);
    EXPECT_THROW(decoder.decode(std::span(jpeg).first(jpeg.size() / 2), {}), Error);
    EXPECT_THROW(decoder.decode(std::span(png).first(png.size() / 2), {}), Error);
    expect_pixels(decoder.decode(png, {}), {24, 20, 3}, 0, smooth_byte);
    EXPECT_EQ(decoder.read_header(jpeg).h, 24);
    EXPECT_THROW(decoder.read_header(std::span(jpeg).first(20)), Error);
  }
}

TEST(DecodeImage, ThreadsWithADecoderEachDoNotDisturbEachOther) {
  const Bytes jpeg = make_jpeg(), png = make_png();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      ImageDecoder decoder;
      for (int i = 0; i < 50; ++i) {
        expect_pixels(decoder.decode(jpeg, {}), {24, 20, 3}, kJpegTolerance, smooth_byte);
        expect_pixels(decoder.decode(png, {}), {24, 20, 3}, 0, smooth_byte);
        EXPECT_THROW(decoder.decode(std::span(jpeg).first(200), {}), Error);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace convoy
