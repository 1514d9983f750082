/// Decodes JPEG and PNG files in memory to pixels of 8 bits, grey or RGB, whatever the files hold.
///
/// Files come from anywhere, so nothing in them is trusted: dimensions are checked before memory is taken for them, and
/// a damaged or cut-off file is an error, never half an image. If only a window of a picture is asked for, damage that
/// no pixel of it depends on may go unnoticed: the window has the same pixels as in an undamaged file.
///   alpha: dropped, as most training programs do; 16 bits: scaled to 8; CMYK and YCCK: through the simple formula
///   R = (255 - C) (255 - K) / 255, with all four taken as stored inverted, as Pillow does; colour to grey:
///   0.299 R + 0.587 G + 0.114 B.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "convoy/base/shape.h"

namespace convoy {

/// Largest number of rows and of columns that an image may have: more than any camera's, and their square, 2^28 pixels,
/// is 0.8 GB of RGB (three times that while a progressive JPEG is decoded), which is the most that a rank can be
/// expected to have.
inline constexpr std::int64_t kMaxImageSide = 16384;
/// Largest number of bytes that a file may have, all of which are read at once: more than 2^28 pixels of RGB take
/// before any packing.
inline constexpr std::uint64_t kMaxImageFileBytes = std::uint64_t{1} << 30;

/// Content of a file's header.
struct ImageHeader {
  std::int64_t h = 0, w = 0;
  bool grey = false;            ///< the picture cannot have colours
  std::int64_t max_shrink = 1;  ///< it can be decoded at 1/2, 1/4, ... of its size, down to 1 / max_shrink
};

/// A window of a picture: rows top to bottom - 1 and columns left to right - 1.
struct Window {
  std::int64_t top = 0, left = 0, bottom = 0, right = 0;
  bool operator==(const Window&) const = default;
};

struct DecodeRequest {
  std::int64_t channels = 3;  ///< 1 or 3
  /// Smallest number of rows and columns of the decoded picture. A JPEG may be decoded at 1/2, 1/4 or 1/8 of its size,
  /// which is faster, as long as it has at least these. 0: full size.
  std::int64_t min_h = 0, min_w = 0;
  /// Part of the picture that is needed, at the size of decoded_shape(). Less than all may be faster.
  std::optional<Window> window;
};

/// Returns by how much a picture's sides shrink if it is decoded as asked: 1, 2, 4, ...
std::int64_t shrink_of(const ImageHeader& header, const DecodeRequest& request);
/// Returns the shape of the whole picture, decoded as asked.
ImageShape decoded_shape(const ImageHeader& header, const DecodeRequest& request);

/// A view of pixels (H,W,C) that another object owns.
struct ImageView {
  ImageShape shape;
  const std::uint8_t* pixels = nullptr;
  std::int64_t top = 0, left = 0;  ///< where the view begins in the whole picture

  std::span<const std::uint8_t> bytes() const { return {pixels, static_cast<std::size_t>(shape.count())}; }
};

/// The library of one format, used through two calls.
class ImageCodec {
 public:
  virtual ~ImageCodec() = default;
  virtual ImageHeader read_header(std::span<const std::byte> file) = 0;
  /// Decodes the window or more. Returns a view of `pixels`, which are resized as needed.
  virtual ImageView decode(std::span<const std::byte> file, const DecodeRequest& request,
                           std::vector<std::uint8_t>& pixels) = 0;
};

std::unique_ptr<ImageCodec> make_jpeg_codec();
std::unique_ptr<ImageCodec> make_png_codec();

/// Decodes one image after the other, in any format, in memory that it keeps. Each thread has its own.
class ImageDecoder {
 public:
  /// `orients`: JPEGs are turned as their Exif orientation says (data/images/orientation.h); headers, requests and
  /// views are then those of the turned picture. Otherwise the orientation is ignored.
  explicit ImageDecoder(bool orients = false);

  /// Reads a file's header. Throws Error with a reason ("it is truncated: ...") if the file is faulty.
  ImageHeader read_header(std::span<const std::byte> file);
  /// Decodes the window asked for, or more; the view is valid until the next call. Throws as read_header() does.
  ImageView decode(std::span<const std::byte> file, const DecodeRequest& request);

 private:
  ImageCodec& codec_of(std::span<const std::byte> file);

  bool orients_;
  std::unique_ptr<ImageCodec> jpeg_, png_;
  std::vector<std::uint8_t> pixels_, turned_;
};

// --- For the codecs --------------------------------------------------------------------------------------------------

inline bool begins_with(std::span<const std::byte> bytes, std::string_view begin) {
  return bytes.size() >= begin.size() && std::memcmp(bytes.data(), begin.data(), begin.size()) == 0;
}

/// Throws Error if a header's dimensions are beyond the limits, or more than `max_pixels_a_byte` times the file's
/// bytes: no honest file packs that many.
void check_dimensions(std::int64_t h, std::int64_t w, std::size_t file_bytes, std::int64_t max_pixels_a_byte);

/// Throws Error if the window asked for does not lie in the picture.
void check_window(const ImageHeader& header, const DecodeRequest& request);

/// Returns 0.299 r + 0.587 g + 0.114 b, with weights in 65536ths, rounded.
inline std::uint8_t luma(int r, int g, int b) {
  return static_cast<std::uint8_t>((19595 * r + 38470 * g + 7471 * b + 32768) >> 16);
}

}  // namespace convoy
