/// Exif is a small TIFF file within a JPEG's segment; turning exchanges or reverses rows and columns.
#include "data/images/orientation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string_view>
#include <utility>

namespace convoy {

namespace {

using Bytes = std::span<const std::byte>;
using namespace std::string_view_literals;

// The standard's eight values: "the 0th row is at the visual ..., the 0th column at the visual ...".
constexpr std::array<Orientation, 9> kOrientations = {{
    {},                                                                     // no value
    {},                                                                     // 1: top, left
    {.columns_reversed = true},                                             // 2: top, right
    {.rows_reversed = true, .columns_reversed = true},                      // 3: bottom, right
    {.rows_reversed = true},                                                // 4: bottom, left
    {.transposed = true},                                                   // 5: left, top
    {.transposed = true, .rows_reversed = true},                            // 6: right, top
    {.transposed = true, .rows_reversed = true, .columns_reversed = true},  // 7: right, bottom
    {.transposed = true, .columns_reversed = true},                         // 8: left, bottom
}};

/// Reads whole numbers of a TIFF file; a number outside of the file reads as none.
struct Tiff {
  Bytes bytes;
  std::endian order;

  std::optional<std::size_t> number(std::size_t at, std::size_t size) const {
    if (at > bytes.size() || size > bytes.size() - at) return std::nullopt;
    std::size_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t next = order == std::endian::big ? i : size - 1 - i;
      value = value << 8 | std::to_integer<std::size_t>(bytes[at + next]);
    }
    return value;
  }
};

std::optional<Tiff> open_tiff(Bytes bytes) {
  if (begins_with(bytes, "II*\0"sv)) return Tiff{bytes, std::endian::little};
  if (begins_with(bytes, "MM\0*"sv)) return Tiff{bytes, std::endian::big};
  return std::nullopt;
}

/// Returns the orientation's value in the first directory; 0 if there is none. A directory holds a count, then entries
/// of 12 bytes: tag (2), type (2), count (4), and the value if it has no more than 4 bytes.
std::size_t value_in_tiff(Bytes bytes) {
  constexpr std::size_t kOffsetAt = 4, kEntryBytes = 12, kTag = 274, kShort = 3;
  const auto tiff = open_tiff(bytes);
  if (!tiff) return 0;
  const auto directory = tiff->number(kOffsetAt, 4);
  const auto count = directory ? tiff->number(*directory, 2) : std::nullopt;
  if (!count) return 0;
  for (std::size_t i = 0; i < *count; ++i) {
    const std::size_t entry = *directory + 2 + i * kEntryBytes;
    const auto value = tiff->number(entry + 8, 2);
    if (!value) return 0;
    if (tiff->number(entry, 2) != kTag) continue;
    return tiff->number(entry + 2, 2) == kShort && tiff->number(entry + 4, 4) == 1 ? *value : 0;
  }
  return 0;
}

/// Returns the segment's content; empty if there is none before the first scan. A segment: 0xff (any number of them),
/// marker, length (2, big-endian, counts itself).
Bytes find_exif(Bytes file) {
  constexpr std::string_view kExif = "Exif\0\0"sv;
  constexpr std::byte kMark{0xff}, kApp1{0xe1}, kStartOfScan{0xda}, kEnd{0xd9};
  Bytes rest = file.subspan(std::min<std::size_t>(2, file.size()));
  while (rest.size() >= 4 && rest[0] == kMark) {
    const std::byte marker = rest[1];
    if (marker == kMark) {
      rest = rest.subspan(1);
      continue;
    }
    if (marker == kStartOfScan || marker == kEnd) return {};
    const std::size_t length = std::to_integer<std::size_t>(rest[2]) << 8 | std::to_integer<std::size_t>(rest[3]);
    if (length < 2 || length > rest.size() - 2) return {};
    const Bytes content = rest.subspan(4, length - 2);
    if (marker == kApp1 && begins_with(content, kExif)) return content.subspan(kExif.size());
    rest = rest.subspan(2 + length);
  }
  return {};
}

struct Interval {
  std::int64_t begin = 0, end = 0;
};

Interval reversed_in(Interval range, std::int64_t size) {
  return {size - range.end, size - range.begin};
}

}  // namespace

Orientation exif_orientation(Bytes file) {
  const std::size_t value = value_in_tiff(find_exif(file));
  return value < kOrientations.size() ? kOrientations[value] : Orientation{};
}

Window stored_window(const Window& seen, Orientation orientation, std::int64_t h, std::int64_t w) {
  Interval rows{seen.top, seen.bottom}, columns{seen.left, seen.right};
  if (orientation.transposed) std::swap(rows, columns);
  if (orientation.rows_reversed) rows = reversed_in(rows, h);
  if (orientation.columns_reversed) columns = reversed_in(columns, w);
  return {rows.begin, columns.begin, rows.end, columns.end};
}

ImageView turned(const ImageView& stored, Orientation orientation, std::int64_t h, std::int64_t w,
                 std::vector<std::uint8_t>& pixels) {
  // 1. Position at which the part is seen
  const ImageShape& in = stored.shape;
  Interval rows{stored.top, stored.top + in.h}, columns{stored.left, stored.left + in.w};
  if (orientation.rows_reversed) rows = reversed_in(rows, h);
  if (orientation.columns_reversed) columns = reversed_in(columns, w);
  if (orientation.transposed) std::swap(rows, columns);
  const ImageShape out{rows.end - rows.begin, columns.end - columns.begin, in.c};

  // 2. Pixel (y,x) of the stored part goes to first + y * a row's stride + x * a column's
  pixels.resize(std::max(pixels.size(), static_cast<std::size_t>(out.count())));
  std::int64_t row_stride = out.w * out.c, column_stride = out.c, first = 0;
  if (orientation.transposed) std::swap(row_stride, column_stride);
  if (orientation.rows_reversed) first += (in.h - 1) * row_stride, row_stride = -row_stride;
  if (orientation.columns_reversed) first += (in.w - 1) * column_stride, column_stride = -column_stride;
  const std::uint8_t* from = stored.pixels;
  for (std::int64_t y = 0; y < in.h; ++y) {
    for (std::int64_t x = 0; x < in.w; ++x, from += in.c)
      std::copy_n(from, in.c, pixels.data() + first + y * row_stride + x * column_stride);
  }
  return {out, pixels.data(), rows.begin, columns.begin};
}

}  // namespace convoy
