/// JPEG and PNG files, whole or a window of them, as they are stored or turned as Exif says. The checksums of a PNG's
/// chunks are corrected, so that the content of the chunks is read.
#include <algorithm>

#include <zlib.h>

#include "data/images/decode_image.h"
#include "fuzz/fuzz.h"

namespace {

constexpr std::size_t kSignatureBytes = 8, kChunkHeadBytes = 8, kChecksumBytes = 4;

std::uint32_t big_endian(const std::byte* bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return value;
}

// A chunk: length of its data, type, data, checksum of the last two.
void mend_checksums(std::vector<std::byte>& file) {
  if (!convoy::begins_with(file, "\x89PNG\r\n\x1a\n")) return;
  for (std::size_t at = kSignatureBytes; file.size() - at >= kChunkHeadBytes + kChecksumBytes;) {
    const std::size_t length = big_endian(file.data() + at);
    if (length > file.size() - at - kChunkHeadBytes - kChecksumBytes) return;
    const auto* const type = reinterpret_cast<const Bytef*>(file.data() + at + 4);
    const uLong sum = crc32(0, type, static_cast<uInt>(length + 4));
    at += kChunkHeadBytes + length;
    for (int shift = 24; shift >= 0; shift -= 8) file[at++] = static_cast<std::byte>(sum >> shift);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  fuzz::Input input(data, size);
  ImageDecoder decoder(/*orients=*/input.flag());
  DecodeRequest request{.channels = input.flag() ? 1 : 3, .min_h = input.byte(), .min_w = input.byte()};
  const bool has_window = input.flag();
  const std::size_t window_part = 1 + input.below(4);
  std::vector<std::byte> file = input.rest_bytes();
  mend_checksums(file);
  return fuzz::read_or_refuse([&] {
    const ImageShape shape = decoded_shape(decoder.read_header(file), request);
    const auto part = static_cast<std::int64_t>(window_part);
    if (has_window)
      request.window = {shape.h / 2, shape.w / (part + 1), std::max(shape.h / 2 + 1, shape.h - shape.h / (2 * part)),
                        shape.w};
    const ImageView view = decoder.decode(file, request);
    fuzz::require(view.shape.c == request.channels && view.shape.h <= shape.h && view.shape.w <= shape.w,
                  "a view lies in its picture");
    std::uint8_t all = 0;
    for (const std::uint8_t pixel : view.bytes()) all |= pixel;  // a sanitizer sees each
    static_cast<void>(all);
  });
}
