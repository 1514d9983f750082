/// Pictures are read with the numbers that they were written with, whatever their type, channels and layout; files that
/// are damaged or have no numbers are refused.
#include "data/arrays/picture_file.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/random.h"

#include "unit/data/image_files.h"
#include "unit/data/picture_files.h"
#include "unit/messages.h"
#include "unit/mutations.h"

namespace convoy {
namespace {

using test::make_deep_png;
using test::make_tiff_picture;
using test::message_of;
using test::TiffPictureSpec;
using Bytes = std::vector<std::byte>;

std::string name_of(const TiffPictureSpec& s) {
  return fmt::format("{} x {} x {}, {} bits of format {}, tiles of {}, method {}, {}{}", s.h, s.w, s.channels, s.bits,
                     s.format, s.tile, s.compression, s.mode, s.is_separate ? ", separate" : "");
}

// Numbers of any bits; floats of 0 to 1, so that none is NaN.
Bytes made_numbers(const TiffPictureSpec& spec) {
  Bytes numbers(static_cast<std::size_t>(spec.h * spec.w * spec.channels * spec.bits / 8));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<std::byte>(random_below({.seed = 3}, i, 256));
  return numbers;
}

Bytes read(const Bytes& file) {
  const auto picture = begin_picture(file);
  Bytes numbers(static_cast<std::size_t>(picture->form().bytes()));
  picture->read(numbers);
  return numbers;
}

std::string refusal(const Bytes& file) {
  return message_of<Error>([&] { read(file); });
}

TEST(PictureFile, TiffsOfAllTypesAreReadAsTheyWereWritten) {
  const std::pair<TiffPictureSpec, ElementType> types[] = {
      {{.bits = 8, .format = 1}, ElementType::kUint8},    {{.bits = 16, .format = 1}, ElementType::kUint16},
      {{.bits = 32, .format = 1}, ElementType::kUint32},  {{.bits = 64, .format = 1}, ElementType::kUint64},
      {{.bits = 8, .format = 2}, ElementType::kInt8},     {{.bits = 16, .format = 2}, ElementType::kInt16},
      {{.bits = 32, .format = 2}, ElementType::kInt32},   {{.bits = 64, .format = 2}, ElementType::kInt64},
      {{.bits = 16, .format = 3}, ElementType::kFloat16}, {{.bits = 32, .format = 3}, ElementType::kFloat32},
      {{.bits = 64, .format = 3}, ElementType::kFloat64}};
  for (const auto& [spec, type] : types) {
    SCOPED_TRACE(name_of(spec));
    const Bytes numbers = made_numbers(spec), file = make_tiff_picture(spec, numbers);
    EXPECT_EQ(begin_picture(file)->form(), (PictureForm{type, 5, 4, 1}));
    EXPECT_EQ(read(file), numbers);
  }
}

TEST(PictureFile, TiffsOfAllLayoutsAreReadAsTheyWereWritten) {
  for (const int channels : {1, 2, 3, 7})
    for (const bool is_separate : {false, true})
      for (const int tile : {0, 16})
        for (const int compression : {1, 5, 8})
          for (const std::string mode : {"wl", "wb", "w8"}) {
            const TiffPictureSpec spec{.h = 21,
                                       .w = 35,
                                       .channels = channels,
                                       .bits = 16,
                                       .is_separate = is_separate,
                                       .tile = tile,
                                       .compression = compression,
                                       .mode = mode};
            SCOPED_TRACE(name_of(spec));
            const Bytes numbers = made_numbers(spec), file = make_tiff_picture(spec, numbers);
            EXPECT_EQ(begin_picture(file)->form(), (PictureForm{ElementType::kUint16, 21, 35, channels}));
            EXPECT_EQ(read(file), numbers);
          }
}

TEST(PictureFile, PngsOf16BitsKeepThem) {
  for (const int channels : {1, 2, 3, 4}) {
    std::vector<std::uint16_t> numbers;
    for (int i = 0; i < 6 * 5 * channels; ++i) numbers.push_back(static_cast<std::uint16_t>(1 + 977 * i));
    const Bytes file = make_deep_png(6, 5, channels, numbers);
    EXPECT_EQ(begin_picture(file)->form(), (PictureForm{ElementType::kUint16, 6, 5, channels}));
    const auto bytes = std::as_bytes(std::span(numbers));
    EXPECT_EQ(read(file), Bytes(bytes.begin(), bytes.end()));
  }
}

TEST(PictureFile, OtherPngsHave8BitsAndTheirColours) {
  EXPECT_EQ(begin_picture(test::make_png({.h = 4, .w = 3}))->form(), (PictureForm{ElementType::kUint8, 4, 3, 3}));
  EXPECT_EQ(begin_picture(test::make_png({.h = 4, .w = 3, .color_type = 6}))->form().channels, 4);
  EXPECT_EQ(begin_picture(test::make_png({.h = 4, .w = 3, .color_type = 3, .bit_depth = 4}))->form().channels, 3);
  const Bytes grey = read(test::make_png({.h = 24, .w = 20, .color_type = 0, .bit_depth = 2}));
  ASSERT_EQ(grey.size(), 24u * 20u);
  for (int i = 0; i < 24 * 20; ++i)
    EXPECT_EQ(std::to_integer<int>(grey[static_cast<std::size_t>(i)]), test::smooth_byte(i / 20, i % 20, 0) >> 6)
        << "two bits are numbers from 0 to 3";
  EXPECT_EQ(read(test::make_png({.h = 9, .w = 8, .interlaced = true})), read(test::make_png({.h = 9, .w = 8})));
}

TEST(PictureFile, WhatHasNoNumbersIsRefusedByName) {
  const auto of = [](const TiffPictureSpec& spec) { return refusal(make_tiff_picture(spec, made_numbers(spec))); };
  EXPECT_CONTAINS(of({.num_pages = 2}), "it has several pages. Write each as a file of its own");
  EXPECT_CONTAINS(of({.bits = 8, .photometric = 3}), "its numbers are indices of a palette. Convert it to grey or RGB");
  EXPECT_CONTAINS(of({.channels = 3, .bits = 8, .photometric = 6}), "its numbers are YCbCr colours");
  EXPECT_CONTAINS(of({.bits = 24}), "its numbers have 24 bits and the format 1");
  EXPECT_EQ(refusal(test::make_jpeg({})), "it is neither PNG nor TIFF, whose numbers can be kept");
  EXPECT_EQ(refusal({}), "it is neither PNG nor TIFF, whose numbers can be kept");
}

// A header's numbers stand at fixed offsets of an entry: tag, type, count, value.
TEST(PictureFile, AbsurdSizesAreRefusedBeforeMemoryIsTaken) {
  TiffPictureSpec spec{.mode = "wl"};
  Bytes file;
  const auto set = [&](std::uint16_t tag, std::uint32_t value) {
    const std::byte wanted[] = {static_cast<std::byte>(tag), static_cast<std::byte>(tag >> 8)};
    std::uint32_t directory = 0;
    std::memcpy(&directory, &file[4], sizeof directory);
    for (std::size_t at = directory + 2; at + 12 <= file.size(); at += 12)
      if (std::memcmp(&file[at], wanted, 2) == 0) {
        file[at + 2] = static_cast<std::byte>(tag == 277 ? 3 : 4);  // the value's type: 16 or 32 bits
        std::memcpy(&file[at + 8], &value, sizeof value);
      }
  };
  const auto with = [&](std::uint16_t tag, std::uint32_t value) {
    file = make_tiff_picture(spec, made_numbers(spec));
    set(tag, value);
    return refusal(file);
  };
  EXPECT_CONTAINS(with(256, 16384), "it is damaged: Not enough data");
  EXPECT_CONTAINS(with(256, 1u << 20), "it is too large: 5 x 1048576 pixels; at most 16384 per side");
  EXPECT_CONTAINS(with(257, 1u << 31), "it is damaged: Incorrect count");
  EXPECT_CONTAINS(with(277, 65535), "it has 65535 channels. Allowed: 1 to 4096");
  EXPECT_CONTAINS(with(256, 0), "it is damaged: ");
  spec = {.h = 16, .w = 16, .channels = 64, .bits = 64, .format = 3, .tile = 16, .mode = "wl"};
  file = make_tiff_picture(spec, made_numbers(spec));
  set(322, 16384);
  set(323, 16384);  // 128 GiB for each tile
  EXPECT_CONTAINS(refusal(file), "it is damaged: its tiles have 16384 x 16384 pixels");
}

TEST(PictureFile, DamageIsRefusedOrRead) {
  const TiffPictureSpec specs[] = {{.h = 9, .w = 7, .channels = 3, .compression = 5},
                                   {.h = 20, .w = 17, .tile = 16, .compression = 8, .mode = "wb"},
                                   {.h = 9, .w = 7, .channels = 2, .is_separate = true, .mode = "w8"}};
  for (const TiffPictureSpec& spec : specs) {
    SCOPED_TRACE(name_of(spec));
    const Bytes file = make_tiff_picture(spec, made_numbers(spec));
    const auto verdicts =
        test::judge_mutations({.file = file, .head_bytes = file.size()}, {.count = 2000, .names = "it"},
                              [](const Bytes& bytes) { read(bytes); });
    EXPECT_GT(verdicts.num_refused, 200);
  }
  const std::vector<std::uint16_t> numbers(60, 517);
  const Bytes png = make_deep_png(5, 4, 3, numbers);
  for (std::size_t size = 1; size < png.size(); ++size)
    EXPECT_NE(refusal(Bytes(png.begin(), png.begin() + static_cast<std::ptrdiff_t>(size))), "") << size;
}

}  // namespace
}  // namespace convoy
