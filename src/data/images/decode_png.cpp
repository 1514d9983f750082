/// Decodes PNG to 8 bits, grey or RGB.
#include <cstring>

#include "convoy/base/error.h"

#include "data/images/decode_image.h"
#include "data/images/png_reading.h"

namespace convoy {

namespace {

class PngCodec final : public ImageCodec {
 public:
  ImageHeader read_header(std::span<const std::byte> file) override { return PngReading(file).begin(); }

  /// Decodes the whole picture, always: deflate cannot begin or end within it.
  ImageView decode(std::span<const std::byte> file, const DecodeRequest& request,
                   std::vector<std::uint8_t>& pixels) override {
    PngReading reading(file);
    const ImageHeader header = reading.begin();
    check_window(header, request);
    const std::size_t row_bytes = reading.convert(static_cast<int>(request.channels));
    const auto pixels_a_row = static_cast<std::size_t>(header.w);
    if (row_bytes != pixels_a_row && row_bytes != pixels_a_row * 3)
      fail("its decoded rows have {} bytes, which is neither grey nor RGB", row_bytes);

    const ImageShape shape{header.h, header.w, request.channels};
    pixels.resize(static_cast<std::size_t>(header.h) * row_bytes);
    rows_.resize(static_cast<std::size_t>(header.h));
    for (std::size_t y = 0; y < rows_.size(); ++y) rows_[y] = pixels.data() + y * row_bytes;
    reading.read(rows_);
    if (row_bytes > pixels_a_row && shape.c == 1) {
      for (std::size_t i = 0; i < pixels.size() / 3; ++i) {
        pixels[i] = luma(pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2]);
      }
      pixels.resize(pixels.size() / 3);
    }
    return {shape, pixels.data()};
  }

 private:
  std::vector<png_bytep> rows_;
};

}  // namespace

std::unique_ptr<ImageCodec> make_png_codec() {
  return std::make_unique<PngCodec>();
}

}  // namespace convoy
