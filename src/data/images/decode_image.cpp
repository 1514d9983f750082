/// Chooses the codec of a file by its first bytes.
#include "data/images/decode_image.h"

#include <algorithm>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/io/foreign_kind.h"

#include "data/images/orientation.h"

namespace convoy {

void check_dimensions(std::int64_t h, std::int64_t w, std::size_t file_bytes, std::int64_t max_pixels_a_byte) {
  if (h < 1 || w < 1) fail("it is damaged: its header gives a size of {} x {} pixels", h, w);
  if (h > kMaxImageSide || w > kMaxImageSide) {
    fail("it is too large: {} x {} pixels; at most {} per side are allowed", h, w, kMaxImageSide);
  }
  if (h * w / max_pixels_a_byte > static_cast<std::int64_t>(file_bytes)) {
    fail("it is truncated or damaged: its header gives a size of {} x {} pixels, but it has only {} bytes", h, w,
         file_bytes);
  }
}

void check_window(const ImageHeader& header, const DecodeRequest& request) {
  if (!request.window) return;
  const ImageShape all = decoded_shape(header, request);
  const Window& w = *request.window;
  if (w.top < 0 || w.left < 0 || w.top >= w.bottom || w.left >= w.right || w.bottom > all.h || w.right > all.w) {
    fail("rows {} to {}, columns {} to {} were requested from its {} x {} pixels", w.top, w.bottom, w.left, w.right,
         all.h, all.w);
  }
}

std::int64_t shrink_of(const ImageHeader& header, const DecodeRequest& request) {
  if (request.min_h < 1 || request.min_w < 1) return 1;
  std::int64_t shrink = header.max_shrink;
  const auto shrunk = [&](std::int64_t size) { return (size + shrink - 1) / shrink; };
  while (shrink > 1 && (shrunk(header.h) < request.min_h || shrunk(header.w) < request.min_w)) shrink /= 2;
  return shrink;
}

ImageShape decoded_shape(const ImageHeader& header, const DecodeRequest& request) {
  const std::int64_t shrink = shrink_of(header, request);
  return {(header.h + shrink - 1) / shrink, (header.w + shrink - 1) / shrink, request.channels};
}

ImageDecoder::ImageDecoder(bool orients) : orients_(orients), jpeg_(make_jpeg_codec()), png_(make_png_codec()) {}

ImageCodec& ImageDecoder::codec_of(std::span<const std::byte> file) {
  if (file.empty()) fail("it is empty");
  if (begins_with(file, "\xff\xd8\xff")) return *jpeg_;
  if (begins_with(file, "\x89PNG\r\n\x1a\n")) return *png_;
  const auto begin = file.first(std::min(file.size(), io::kForeignKindBytes));
  if (std::ranges::all_of(begin, [](std::byte value) { return value == std::byte{0}; }))
    fail("it begins with zero bytes: it was not written completely. Copy or download it again");
  const auto kind = io::find_foreign_kind(file);
  if (kind) fail("it is {}, neither a JPEG nor a PNG. {}", kind->name, kind->remedy);
  fail("it is neither a JPEG nor a PNG");
}

ImageHeader ImageDecoder::read_header(std::span<const std::byte> file) {
  ImageHeader header = codec_of(file).read_header(file);
  if (orients_ && exif_orientation(file).transposed) std::swap(header.h, header.w);
  return header;
}

ImageView ImageDecoder::decode(std::span<const std::byte> file, const DecodeRequest& request) {
  if (request.channels != 1 && request.channels != 3)
    fail("an image cannot be decoded as {} channels", request.channels);
  ImageCodec& codec = codec_of(file);
  const Orientation orientation = orients_ ? exif_orientation(file) : Orientation{};
  if (orientation == Orientation{}) return codec.decode(file, request, pixels_);

  DecodeRequest stored = request;
  if (orientation.transposed) std::swap(stored.min_h, stored.min_w);
  const ImageShape shape = decoded_shape(codec.read_header(file), stored);
  if (request.window) stored.window = stored_window(*request.window, orientation, shape.h, shape.w);
  return turned(codec.decode(file, stored, pixels_), orientation, shape.h, shape.w, turned_);
}

}  // namespace convoy
