/// libpng calls back with bytes of the file and with errors; limits are set before it sees a byte.
#include "data/images/png_reading.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace convoy {

namespace {

// Limit of chunks other than pixels (texts, profiles): they are few and small in an honest file, and are decompressed
// before they are dropped.
constexpr png_uint_32 kMaxChunks = 128;
constexpr png_alloc_size_t kMaxChunkBytes = png_alloc_size_t{8} << 20;
// A pixel has at least one bit, and deflate packs at most 1032 bytes in one (zlib's documentation).
constexpr std::int64_t kMaxPngPixelsPerByte = 8 * 1032;

/// Checks that every chunk up to the first `last` lies within the file: libpng takes the memory that a text or profile
/// claims before it reads it, and only warns if that is more than png_set_chunk_malloc_max allows. A chunk: length N
/// (4, big-endian), name (4), N bytes, checksum (4). PNG specification, 5.3.
void check_chunks(std::span<const std::byte> file, std::string_view last) {
  constexpr std::size_t kSignatureBytes = 8, kBytesAround = 12;
  for (auto rest = file.subspan(std::min(kSignatureBytes, file.size())); !rest.empty();) {
    if (rest.size() < kBytesAround) fail("it is damaged: it ends too early");
    if (std::memcmp(rest.data() + 4, last.data(), last.size()) == 0) return;
    const std::size_t length = png_get_uint_32(reinterpret_cast<png_const_bytep>(rest.data()));
    if (length > rest.size() - kBytesAround) fail("it is damaged: it ends too early");
    rest = rest.subspan(kBytesAround + length);
  }
}

void on_warning(png_structp, png_const_charp) {}

}  // namespace

void PngReading::on_error(png_structp png, png_const_charp text) {
  auto* const context = static_cast<Context*>(png_get_error_ptr(png));
  std::snprintf(context->message.data(), context->message.size(), "%s", text);
  std::longjmp(context->jump, 1);
}

void PngReading::read_bytes(png_structp png, png_bytep out, std::size_t size) {
  auto* const context = static_cast<Context*>(png_get_io_ptr(png));
  if (size > context->rest.size()) png_error(png, "it ends too early");
  std::memcpy(out, context->rest.data(), size);
  context->rest = context->rest.subspan(size);
}

PngReading::PngReading(std::span<const std::byte> file) : file_(file) {
  context_.rest = file;
  png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &context_, on_error, on_warning);
  info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
  if (info_ == nullptr) {
    png_destroy_read_struct(&png_, nullptr, nullptr);
    fail("libpng cannot start: out of memory, or its version is not the one that Convoy was built with");
  }
}

PngReading::~PngReading() {
  png_destroy_read_struct(&png_, &info_, nullptr);
}

ImageHeader PngReading::begin() {
  check_chunks(file_, "IDAT");
  run([this] {
    png_set_user_limits(png_, kMaxImageSide, kMaxImageSide);
    png_set_chunk_cache_max(png_, kMaxChunks);
    png_set_chunk_malloc_max(png_, kMaxChunkBytes);
    png_set_read_fn(png_, &context_, read_bytes);
    png_read_info(png_, info_);
  });
  const ImageHeader header{png_get_image_height(png_, info_), png_get_image_width(png_, info_), is_grey()};
  check_dimensions(header.h, header.w, file_.size(), kMaxPngPixelsPerByte);
  return header;
}

std::size_t PngReading::convert(int channels) {
  run([&] {
    png_set_scale_16(png_);
    png_set_palette_to_rgb(png_);
    png_set_expand_gray_1_2_4_to_8(png_);
    png_set_strip_alpha(png_);
    if (channels == 3) png_set_gray_to_rgb(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
  });
  return png_get_rowbytes(png_, info_);
}

PngReading::Numbers PngReading::keep_numbers() {
  run([this] {
    if (png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    png_set_packing(png_);
    if (std::endian::native == std::endian::little) png_set_swap(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
  });
  return {png_get_channels(png_, info_), png_get_bit_depth(png_, info_)};
}

void PngReading::read(std::span<png_bytep> rows) {
  check_chunks(file_, "IEND");
  run([&] {
    png_read_image(png_, rows.data());
    png_read_end(png_, nullptr);
  });
}

bool PngReading::is_grey() {
  const int type = png_get_color_type(png_, info_);
  if (type != PNG_COLOR_TYPE_PALETTE) return (type & PNG_COLOR_MASK_COLOR) == 0;
  png_colorp palette = nullptr;
  int size = 0;
  if (png_get_PLTE(png_, info_, &palette, &size) == 0) return false;
  return std::all_of(palette, palette + size, [](const png_color& c) { return c.red == c.green && c.green == c.blue; });
}

}  // namespace convoy
