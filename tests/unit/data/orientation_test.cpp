/// Exif segments that tell how a picture is held, and those that tell nothing.
#include "data/images/orientation.h"

#include <algorithm>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "unit/data/image_files.h"

namespace convoy {
namespace {

using Bytes = std::vector<std::byte>;
using test::make_tiff;
using test::with_exif;

constexpr Orientation kTurned{.transposed = true, .rows_reversed = true};  // 6: a camera held upright

Orientation orientation_of_tiff(const Bytes& tiff) {
  return exif_orientation(with_exif(test::make_jpeg(), tiff));
}

TEST(Orientation, IsReadInBothByteOrdersWhereverItStandsInItsDirectory) {
  for (const bool big_endian : {false, true})
    for (const int others : {0, 1, 30})
      EXPECT_EQ(
          orientation_of_tiff(make_tiff({.orientation = 6, .big_endian = big_endian, .num_other_entries = others})),
          kTurned);
}

TEST(Orientation, OfAFileThatIsCutOffBehindItsHeadersIsKnown) {
  Bytes file = with_exif(test::make_jpeg(), make_tiff({.orientation = 6}));
  file.resize(300);
  EXPECT_EQ(exif_orientation(file), kTurned);
}

TEST(Orientation, TheFirstExifSegmentCountsAndOthersOfItsMarkerArePassedOver) {
  Bytes file = with_exif(test::make_jpeg(), make_tiff({.orientation = 3}));
  file = with_exif(file, make_tiff({.orientation = 6}));
  EXPECT_EQ(exif_orientation(file), kTurned);
  file[2 + 4] = std::byte{'e'};  // in the first segment, which is now not Exif
  EXPECT_EQ(exif_orientation(file), (Orientation{.rows_reversed = true, .columns_reversed = true}));
}

TEST(Orientation, FillBytesBeforeAMarkerArePassedOver) {
  Bytes file = with_exif(test::make_jpeg(), make_tiff({.orientation = 6}));
  const Bytes fill_bytes(3, std::byte{0xff});
  file.insert(file.begin() + 2, fill_bytes.begin(), fill_bytes.end());
  EXPECT_EQ(exif_orientation(file), kTurned);
}

TEST(Orientation, WhatIsMalformedSaysNothing) {
  const struct {
    std::string what;
    std::function<void(Bytes& tiff)> change;
  } cases[] = {
      {"no such value", [](Bytes& tiff) { tiff[8 + 2 + 8] = std::byte{9}; }},
      {"value 0", [](Bytes& tiff) { tiff[8 + 2 + 8] = std::byte{0}; }},
      {"value 256", [](Bytes& tiff) { tiff[8 + 2 + 9] = std::byte{1}; }},
      {"of another type", [](Bytes& tiff) { tiff[8 + 2 + 2] = std::byte{4}; }},
      {"two values", [](Bytes& tiff) { tiff[8 + 2 + 4] = std::byte{2}; }},
      {"another tag", [](Bytes& tiff) { tiff[8 + 2] = std::byte{19}; }},
      {"no byte order", [](Bytes& tiff) { tiff[0] = std::byte{'X'}; }},
      {"two byte orders", [](Bytes& tiff) { tiff[1] = std::byte{'M'}; }},
      {"no 42", [](Bytes& tiff) { tiff[2] = std::byte{43}; }},
      {"directory at the end", [](Bytes& tiff) { tiff[4] = static_cast<std::byte>(tiff.size()); }},
      {"directory far behind", [](Bytes& tiff) { std::fill_n(tiff.begin() + 4, 4, std::byte{0xff}); }},
      {"empty directory", [](Bytes& tiff) { tiff[8] = std::byte{0}; }},
      {"cut off in its entry", [](Bytes& tiff) { tiff.resize(8 + 2 + 9); }},
      {"cut off in the directory's count", [](Bytes& tiff) { tiff.resize(9); }},
      {"cut off in its head", [](Bytes& tiff) { tiff.resize(7); }},
      {"empty", [](Bytes& tiff) { tiff.clear(); }},
  };
  for (const auto& c : cases) {
    Bytes tiff = make_tiff({.orientation = 6, .num_other_entries = 0});
    ASSERT_EQ(orientation_of_tiff(tiff), kTurned);
    c.change(tiff);
    EXPECT_EQ(orientation_of_tiff(tiff), Orientation{}) << c.what;
  }
}

TEST(Orientation, OfWhatHasNoSegmentsIsNone) {
  for (const Bytes& file : {Bytes{}, Bytes(1), Bytes(3, std::byte{0xff}), Bytes(100, std::byte{0xff}), Bytes(100),
                            test::make_jpeg(), test::make_png()})
    EXPECT_EQ(exif_orientation(file), Orientation{}) << file.size();
}

// A length that would lead out of the file, and one that would lead nowhere.
TEST(Orientation, SegmentsThatDoNotLieInTheFileSayNothing) {
  for (const int length : {0, 1, 0xffff}) {
    Bytes file = with_exif(test::make_jpeg(), make_tiff({.orientation = 6}));
    file[4] = static_cast<std::byte>(length >> 8), file[5] = static_cast<std::byte>(length & 0xff);
    EXPECT_EQ(exif_orientation(file), Orientation{}) << length;
  }
}

}  // namespace
}  // namespace convoy
