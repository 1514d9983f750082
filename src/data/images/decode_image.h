/// Decodes JPEG and PNG files that are in memory to pixels of 8 bits per channel, grey or RGB, for all pixel formats.
///
/// Files come from anywhere, so nothing in them is trusted: dimensions are checked before memory is taken for them, and
/// a damaged or cut-off file is an error, never half an image. If only a window of a picture is asked for, damage that
/// no pixel of it depends on may go unnoticed: the window has the same pixels as in an undamaged file.
/// Pixel formats are converted so:
///   alpha           dropped, as most training programs do
///   16 bits         scaled to 8 bits
///   CMYK, YCCK      R = (255 - C) (255 - K) / 255; all four values are taken as stored inverted, as in Pillow
///   colour to grey  0.299 R + 0.587 G + 0.114 B
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

/// Largest number of rows and of columns that an image may have. It is more than any camera gives. A square image of
/// this size, 2^28 pixels, takes 0.8 GB in RGB (three times that while a progressive JPEG is decoded), which is about
/// the largest amount of memory that a rank can be expected to have.
inline constexpr std::int64_t kMaxImageSide = 16384;
/// Largest size in bytes of an image file, which is read as a whole. It is more than 2^28 RGB pixels take without
/// compression.
inline constexpr std::uint64_t kMaxImageFileBytes = std::uint64_t{1} << 30;

/// The content of an image file's header.
struct ImageHeader {
  std::int64_t h = 0, w = 0;    ///< numbers of rows and columns
  bool grey = false;            ///< whether the file's format allows no colours
  std::int64_t max_shrink = 1;  ///< the picture can be decoded at 1/2, 1/4, ..., 1 / max_shrink of its size; 1: cannot
};

/// A window of a picture: rows top to bottom - 1 and columns left to right - 1.
struct Window {
  std::int64_t top = 0, left = 0, bottom = 0, right = 0;
  bool operator==(const Window&) const = default;
};

struct DecodeRequest {
  std::int64_t channels = 3;  ///< number of channels of the result: 1 (grey) or 3 (RGB)
  /// Smallest number of rows and columns of the decoded picture. A JPEG may be decoded at 1/2, 1/4 or 1/8 of its size,
  /// which is faster, as long as it keeps at least this number of rows and columns. 0: it is decoded at full size.
  std::int64_t min_h = 0, min_w = 0;
  /// Part of the picture that is needed, in pixels of the decoded picture (decoded_shape()). A decoder may decode more
  /// than this part, but need not decode the rest. Nothing: the whole picture is needed.
  std::optional<Window> window;
};

/// Returns the factor, 1, 2, 4 or 8, by which the sides of the picture become shorter if it is decoded for this
/// request.
std::int64_t shrink_of(const ImageHeader& header, const DecodeRequest& request);
/// Returns the shape of the whole picture if it is decoded for this request, which may be smaller than in the file.
ImageShape decoded_shape(const ImageHeader& header, const DecodeRequest& request);

/// A view of pixels (H,W,C) that another object owns.
struct ImageView {
  ImageShape shape;
  const std::uint8_t* pixels = nullptr;
  std::int64_t top = 0, left = 0;  ///< row and column of the whole picture at which the view begins

  std::span<const std::uint8_t> bytes() const { return {pixels, static_cast<std::size_t>(shape.count())}; }
};

/// Reads the headers and the pixels of files of one format, JPEG or PNG, by means of its library.
class ImageCodec {
 public:
  virtual ~ImageCodec() = default;
  /// Reads a file's header. Throws Error with a reason if the file is faulty.
  virtual ImageHeader read_header(std::span<const std::byte> file) = 0;
  /// Decodes at least the requested window to `pixels`, which it resizes as needed. Returns a view of `pixels`. Throws
  /// Error with a reason if the file is faulty, or if the window is not inside the picture.
  virtual ImageView decode(std::span<const std::byte> file, const DecodeRequest& request,
                           std::vector<std::uint8_t>& pixels) = 0;
};

std::unique_ptr<ImageCodec> make_jpeg_codec();
std::unique_ptr<ImageCodec> make_png_codec();

/// Decodes images of any format. It keeps memory from image to image, so each thread needs its own decoder.
class ImageDecoder {
 public:
  /// If `orients`, JPEG pictures are turned as their Exif orientation says (data/images/orientation.h), and headers,
  /// requests and views are those of the turned picture. Otherwise the orientation is ignored.
  explicit ImageDecoder(bool orients = false);

  /// Reads a file's header. Throws Error with a reason ("it is truncated: ...") if the file is faulty.
  ImageHeader read_header(std::span<const std::byte> file);
  /// Decodes at least the requested window. The view is valid until the next call. Throws Error with a reason if the
  /// file is faulty.
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

/// Throws Error if a header's dimensions are larger than kMaxImageSide, or if there were more than `max_pixels_a_byte`
/// pixels per byte of the file: no real file compresses so much.
void check_dimensions(std::int64_t h, std::int64_t w, std::size_t file_bytes, std::int64_t max_pixels_a_byte);

/// Throws Error if the requested window is not inside the decoded picture.
void check_window(const ImageHeader& header, const DecodeRequest& request);

/// Returns the grey value 0.299 r + 0.587 g + 0.114 b, rounded. The weights are multiples of 1/65536.
inline std::uint8_t luma(int r, int g, int b) {
  return static_cast<std::uint8_t>((19595 * r + 38470 * g + 7471 * b + 32768) >> 16);
}

}  // namespace convoy
