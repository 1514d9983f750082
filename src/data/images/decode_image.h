/// JPEG and PNG files in memory to pixels: 8 bits, grey or RGB, whatever they hold.
///
/// Files come from anywhere, so nothing in one is believed: its dimensions are checked before memory is taken for them,
/// and what is damaged or cut off is an error, never half an image. Where only a window of a picture is asked for,
/// damage that no pixel of it depends on may go unnoticed: the window is what it would be in the whole file.
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

/// Rows and columns that an image may have: more than any camera's, and their square, 2^28 pixels, is 0.8 GB of RGB
/// (and three times that while a progressive JPEG is decoded): as much as a rank can be asked for.
inline constexpr std::int64_t kMaxImageSide = 16384;
/// Bytes that a file may have, all of which are read at once: more than 2^28 pixels of RGB take before any packing.
inline constexpr std::uint64_t kMaxImageFileBytes = std::uint64_t{1} << 30;

/// What a file says of itself.
struct ImageHeader {
  std::int64_t h = 0, w = 0;
  bool grey = false;            ///< no colour can be in it
  std::int64_t max_shrink = 1;  ///< it can be decoded at 1/2, 1/4, ... of its size, down to one in this
};

/// Rows top to bottom - 1 and columns left to right - 1 of a picture.
struct Window {
  std::int64_t top = 0, left = 0, bottom = 0, right = 0;
  bool operator==(const Window&) const = default;
};

struct DecodeRequest {
  std::int64_t channels = 3;  ///< 1 or 3
  /// A JPEG may come at 1/2, 1/4 or 1/8 of its size, which is faster, as long as it has at least so many rows and
  /// columns. 0: at its full size.
  std::int64_t min_h = 0, min_w = 0;
  /// What is needed of the picture, at the size that it comes in: decoded_shape(). Less than all may be faster.
  std::optional<Window> window;
};

/// By how much a picture's sides shrink when it is decoded as asked: 1, 2, 4, ...
std::int64_t shrink_of(const ImageHeader& header, const DecodeRequest& request);
/// Of the whole picture.
ImageShape decoded_shape(const ImageHeader& header, const DecodeRequest& request);

/// Pixels in somebody else's memory, (H,W,C).
struct ImageView {
  ImageShape shape;
  const std::uint8_t* pixels = nullptr;
  std::int64_t top = 0, left = 0;  ///< where it begins in the picture that it is a part of

  std::span<const std::uint8_t> bytes() const { return {pixels, static_cast<std::size_t>(shape.count())}; }
};

/// One format's library behind two calls.
class ImageCodec {
 public:
  virtual ~ImageCodec() = default;
  virtual ImageHeader read_header(std::span<const std::byte> file) = 0;
  /// A view of `pixels`, which are resized as needed: of the window at least.
  virtual ImageView decode(std::span<const std::byte> file, const DecodeRequest& request,
                           std::vector<std::uint8_t>& pixels) = 0;
};

std::unique_ptr<ImageCodec> make_jpeg_codec();
std::unique_ptr<ImageCodec> make_png_codec();

/// Decodes one image after the other, whatever their format, in memory that it keeps. One per thread.
class ImageDecoder {
 public:
  /// `orients`: a JPEG is turned as its Exif orientation says (data/images/orientation.h). Then headers, requests and
  /// views are those of the turned picture. Else the orientation is ignored.
  explicit ImageDecoder(bool orients = false);

  /// Both throw Error saying what is wrong with the file ("it is truncated: ...").
  ImageHeader read_header(std::span<const std::byte> file);
  /// Of the window asked for, or of more. Holds until the next call.
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

/// Throws Error where a header's dimensions are beyond the limits, or more than `max_pixels_a_byte` times the file's
/// bytes: no honest file packs so much.
void check_dimensions(std::int64_t h, std::int64_t w, std::size_t file_bytes, std::int64_t max_pixels_a_byte);

/// Throws Error where the window asked for is not one of the picture.
void check_window(const ImageHeader& header, const DecodeRequest& request);

/// The weights of 0.299, 0.587, 0.114 in 65536ths.
inline std::uint8_t luma(int r, int g, int b) {
  return static_cast<std::uint8_t>((19595 * r + 38470 * g + 7471 * b + 32768) >> 16);
}

}  // namespace convoy
