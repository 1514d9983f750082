/// Which codec a file is for, by its first bytes.
#include "data/decode_image.h"

#include <algorithm>
#include <array>

#include "convoy/base/error.h"

namespace convoy {

namespace {

constexpr std::array kJpegBegin = {std::byte{0xff}, std::byte{0xd8}, std::byte{0xff}};
constexpr std::array kPngBegin = {std::byte{0x89}, std::byte{'P'},  std::byte{'N'},  std::byte{'G'},
                                  std::byte{'\r'}, std::byte{'\n'}, std::byte{0x1a}, std::byte{'\n'}};

template <std::size_t N>
bool begins_with(std::span<const std::byte> file, const std::array<std::byte, N>& begin) {
  return file.size() >= N && std::equal(begin.begin(), begin.end(), file.begin());
}

}  // namespace

void check_dimensions(std::int64_t h, std::int64_t w, std::size_t file_bytes, std::int64_t most_pixels_a_byte) {
  if (h < 1 || w < 1) fail("it is damaged: it says that it has {} x {} pixels", h, w);
  if (h > kMostImageSide || w > kMostImageSide) {
    fail("it is too large: {} x {} pixels; at most {} a side are taken", h, w, kMostImageSide);
  }
  if (h * w / most_pixels_a_byte > static_cast<std::int64_t>(file_bytes)) {
    fail("it is truncated or damaged: it says that it has {} x {} pixels, in {} bytes", h, w, file_bytes);
  }
}

ImageDecoder::ImageDecoder() : jpeg_(make_jpeg_codec()), png_(make_png_codec()) {}

ImageCodec& ImageDecoder::codec_of(std::span<const std::byte> file) {
  if (file.empty()) fail("it is empty");
  if (begins_with(file, kJpegBegin)) return *jpeg_;
  if (begins_with(file, kPngBegin)) return *png_;
  fail("it is neither a JPEG nor a PNG");
}

ImageHeader ImageDecoder::read_header(std::span<const std::byte> file) {
  return codec_of(file).read_header(file);
}

ImageView ImageDecoder::decode(std::span<const std::byte> file, const DecodeRequest& request) {
  if (request.channels != 1 && request.channels != 3)
    fail("an image cannot be decoded as {} channels", request.channels);
  const ImageShape shape = codec_of(file).decode(file, request, pixels_);
  return {shape, pixels_.data()};
}

}  // namespace convoy
