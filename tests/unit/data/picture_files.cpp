/// libtiff writes to a file, libpng to memory.
#include "unit/data/picture_files.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <png.h>
#include <tiffio.h>

#include "convoy/io/atomic_file.h"

#include "unit/io/temporary_directory.h"

namespace convoy::test {

namespace {

// Copies the pixels [y, y + h) x [x, x + w) of a plane, or of all channels, as far as the picture has them.
std::vector<std::byte> cut(const TiffPictureSpec& spec, std::span<const std::byte> numbers, int plane, int y, int x,
                           int h, int w) {
  const int bytes = spec.bits / 8, from = spec.is_separate ? plane : 0, count = spec.is_separate ? 1 : spec.channels;
  const std::size_t pixel_bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(bytes);
  std::vector<std::byte> part(static_cast<std::size_t>(h) * static_cast<std::size_t>(w) * pixel_bytes);
  for (int row = 0; row < std::min(h, spec.h - y); ++row)
    for (int column = 0; column < std::min(w, spec.w - x); ++column)
      std::memcpy(part.data() + (row * w + column) * count * bytes,
                  numbers.data() + (((y + row) * spec.w + x + column) * spec.channels + from) * bytes, pixel_bytes);
  return part;
}

void write_page(TIFF* tiff, const TiffPictureSpec& spec, std::span<const std::byte> numbers) {
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, spec.w);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, spec.h);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, spec.channels);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, spec.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, spec.format);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, spec.photometric);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, spec.is_separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, spec.compression);
  std::vector<std::uint16_t> colours(std::size_t{1} << std::min(spec.bits, 16));
  if (spec.photometric == PHOTOMETRIC_YCBCR) TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, 1, 1);
  if (spec.photometric == PHOTOMETRIC_PALETTE)
    TIFFSetField(tiff, TIFFTAG_COLORMAP, colours.data(), colours.data(), colours.data());
  if (spec.tile > 0) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, spec.tile);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, spec.tile);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 2);
  }
  for (int plane = 0; plane < (spec.is_separate ? spec.channels : 1); ++plane) {
    for (int y = 0; spec.tile > 0 && y < spec.h; y += spec.tile)
      for (int x = 0; x < spec.w; x += spec.tile) {
        std::vector<std::byte> tile = cut(spec, numbers, plane, y, x, spec.tile, spec.tile);
        TIFFWriteTile(tiff, tile.data(), static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 0,
                      static_cast<std::uint16_t>(plane));
      }
    for (int y = 0; spec.tile == 0 && y < spec.h; ++y) {
      std::vector<std::byte> row = cut(spec, numbers, plane, y, 0, 1, spec.w);
      TIFFWriteScanline(tiff, row.data(), static_cast<std::uint32_t>(y), static_cast<std::uint16_t>(plane));
    }
  }
  TIFFWriteDirectory(tiff);
}

void add_bytes(png_structp png, png_bytep data, png_size_t size) {
  auto* const out = static_cast<std::vector<std::byte>*>(png_get_io_ptr(png));
  const auto* const begin = reinterpret_cast<const std::byte*>(data);
  out->insert(out->end(), begin, begin + size);
}

}  // namespace

std::vector<std::byte> make_tiff_picture(const TiffPictureSpec& spec, std::span<const std::byte> numbers) {
  const TemporaryDirectory directory;
  const std::string path = directory / "x.tif";
  TIFF* const tiff = TIFFOpen(path.c_str(), spec.mode.c_str());
  for (int page = 0; page < spec.num_pages; ++page) write_page(tiff, spec, numbers);
  TIFFClose(tiff);
  return io::read_file(path);
}

std::vector<std::byte> make_deep_png(int h, int w, int channels, std::span<const std::uint16_t> numbers) {
  constexpr int kTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  std::vector<std::byte> bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &bytes, add_bytes, nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(w), static_cast<png_uint_32>(h), 16, kTypes[channels - 1],
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  if (std::endian::native == std::endian::little) png_set_swap(png);
  std::vector<std::uint16_t> all(numbers.begin(), numbers.end());
  for (int y = 0; y < h; ++y) png_write_row(png, reinterpret_cast<png_bytep>(all.data() + y * w * channels));
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

}  // namespace convoy::test
