/// Writes with the libraries that read the files.
#include "unit/data/image_files.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/core.h>
#include <jpeglib.h>
#include <png.h>

#include "unit/io/temporary_directory.h"

namespace convoy::test {

std::uint8_t smooth_byte(int y, int x, int channel) {
  return static_cast<std::uint8_t>(30 + 60 * channel % 200 + 2 * y + x);
}

std::vector<std::byte> make_jpeg(const JpegSpec& spec, std::span<const std::uint8_t> pixels) {
  jpeg_compress_struct jpeg = {};
  jpeg_error_mgr errors = {};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &memory, &size);
  jpeg.image_height = static_cast<JDIMENSION>(spec.h);
  jpeg.image_width = static_cast<JDIMENSION>(spec.w);
  jpeg.input_components = spec.channels;
  jpeg.in_color_space = spec.channels == 1 ? JCS_GRAYSCALE : spec.channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  if (spec.channels == 4) jpeg_set_colorspace(&jpeg, spec.ycck ? JCS_YCCK : JCS_CMYK);
  jpeg.write_Adobe_marker = spec.channels == 4 && spec.adobe ? TRUE : FALSE;
  for (int c = 0; c < jpeg.num_components; ++c) {
    jpeg.comp_info[c].h_samp_factor = c == 0 ? spec.across : 1;
    jpeg.comp_info[c].v_samp_factor = c == 0 ? spec.down : 1;
  }
  jpeg.restart_in_rows = spec.restart_rows;
  jpeg_set_quality(&jpeg, spec.quality, TRUE);
  jpeg.arith_code = spec.arithmetic ? TRUE : FALSE;
  if (spec.progressive) jpeg_simple_progression(&jpeg);
  std::vector<jpeg_scan_info> scans;
  for (int c = 0; c < jpeg.num_components; ++c) scans.push_back({1, {c, 0, 0, 0}, 0, 63, 0, 0});
  if (spec.separate_scans) {
    jpeg.scan_info = scans.data();
    jpeg.num_scans = static_cast<int>(scans.size());
  }
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<std::uint8_t> row(
      static_cast<std::size_t>(spec.w * spec.channels));  // not const: libjpeg takes a pointer to non-const
  for (std::size_t y = 0; y < static_cast<std::size_t>(spec.h); ++y) {
    const auto from = pixels.subspan(y * row.size(), row.size());
    std::copy(from.begin(), from.end(), row.begin());
    JSAMPROW rows = row.data();
    jpeg_write_scanlines(&jpeg, &rows, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  const auto* const begin = reinterpret_cast<const std::byte*>(memory);
  std::vector<std::byte> bytes(begin, begin + size);
  std::free(memory);
  return bytes;
}

std::vector<std::byte> make_jpeg(const JpegSpec& spec) {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < spec.h; ++y) {
    for (int x = 0; x < spec.w; ++x) {
      for (int c = 0; c < spec.channels; ++c) pixels.push_back(smooth_byte(y, x, c));
    }
  }
  return make_jpeg(spec, pixels);
}

namespace {

void append(png_structp png, png_bytep data, png_size_t size) {
  auto* const out = static_cast<std::vector<std::byte>*>(png_get_io_ptr(png));
  const auto* const begin = reinterpret_cast<const std::byte*>(data);
  out->insert(out->end(), begin, begin + size);
}

std::vector<std::uint8_t> png_row(const PngSpec& spec, int y) {
  std::vector<std::uint8_t> row;
  const int colours = spec.color_type == PNG_COLOR_TYPE_RGB || spec.color_type == PNG_COLOR_TYPE_RGB_ALPHA ? 3 : 1;
  const bool alpha = (spec.color_type & PNG_COLOR_MASK_ALPHA) != 0;
  int bits = 0, filled = 0;
  for (int x = 0; x < spec.w; ++x) {
    for (int c = 0; c < colours + (alpha ? 1 : 0); ++c) {
      const int value = c < colours ? smooth_byte(y, x, c) : (x + y) % 256;
      if (spec.bit_depth >= 8) {
        row.push_back(static_cast<std::uint8_t>(value));
        if (spec.bit_depth == 16) row.push_back(static_cast<std::uint8_t>(value));
        continue;
      }
      bits = bits << spec.bit_depth | value >> (8 - spec.bit_depth);
      if ((filled += spec.bit_depth) < 8) continue;
      row.push_back(static_cast<std::uint8_t>(bits));
      bits = filled = 0;
    }
  }
  if (filled > 0) row.push_back(static_cast<std::uint8_t>(bits << (8 - filled)));
  return row;
}

}  // namespace

std::vector<std::byte> make_png(const PngSpec& spec) {
  std::vector<std::byte> bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &bytes, append, nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(spec.w), static_cast<png_uint_32>(spec.h), spec.bit_depth,
               spec.color_type, spec.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (spec.color_type == PNG_COLOR_TYPE_PALETTE) {
    std::vector<png_color> palette(std::size_t{1} << spec.bit_depth);
    for (std::size_t i = 0; i < palette.size(); ++i) {
      const auto v = static_cast<png_byte>(i);
      palette[i] = spec.grey_palette ? png_color{v, v, v}
                                     : png_color{v, static_cast<png_byte>(255 - i), static_cast<png_byte>(i / 2)};
    }
    png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
  }
  std::string key = "Comment", value = spec.text;
  png_text text = {};
  text.compression = PNG_TEXT_COMPRESSION_NONE;
  text.key = key.data();
  text.text = value.data();
  if (!value.empty()) png_set_text(png, info, &text, 1);
  std::vector<std::vector<std::uint8_t>> rows;
  std::vector<png_bytep> pointers;
  for (int y = 0; y < spec.h; ++y) rows.push_back(png_row(spec, y));
  for (auto& row : rows) pointers.push_back(row.data());
  png_write_info(png, info);
  png_write_image(png, pointers.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

std::vector<std::byte> make_tiff(const TiffSpec& spec) {
  std::vector<std::byte> tiff;
  const auto put = [&](int value, int num_bytes) {
    for (int i = 0; i < num_bytes; ++i)
      tiff.push_back(static_cast<std::byte>(value >> 8 * (spec.big_endian ? num_bytes - 1 - i : i)));
  };
  const char mark = spec.big_endian ? 'M' : 'I';
  tiff.assign(2, static_cast<std::byte>(mark));
  put(42, 2);
  put(8, 4);  // offset of the directory
  put(spec.num_other_entries + 1, 2);
  for (int i = 0; i <= spec.num_other_entries; ++i) {
    const bool is_orientation = i == spec.num_other_entries;
    put(is_orientation ? 274 : 1 + i, 2);
    put(3, 2);  // a SHORT
    put(1, 4);
    put(is_orientation ? spec.orientation : 77, 2);
    put(0, 2);
  }
  put(0, 4);  // no other directory
  return tiff;
}

std::vector<std::byte> with_exif(std::span<const std::byte> jpeg, std::span<const std::byte> tiff) {
  const std::size_t length = 2 + 6 + tiff.size();
  std::vector<std::byte> file(jpeg.begin(), jpeg.begin() + 2);
  for (const int byte : {0xff, 0xe1, static_cast<int>(length >> 8), static_cast<int>(length & 0xff), int{'E'}, int{'x'},
                         int{'i'}, int{'f'}, 0, 0})
    file.push_back(static_cast<std::byte>(byte));
  file.insert(file.end(), tiff.begin(), tiff.end());
  file.insert(file.end(), jpeg.begin() + 2, jpeg.end());
  return file;
}

void write_image_folder(const std::string& folder) {
  int number = 0;
  for (const std::string split : {"train", "test"}) {
    int label = 0;
    for (const std::string name : {"ant", "bee", "cat"}) {
      const int count = split == "train" ? 7 + label : 2;
      for (int i = 0; i < count; ++i, ++number) {
        const std::string nested = name == "cat" ? "images/" : "";
        const bool jpeg = number % 2 == 0;
        const std::string path =
            fmt::format("{}/{}/{}/{}{:02}.{}", folder, split, name, nested, i, jpeg ? "jpg" : "png");
        const int h = 18 + 3 * label + i, w = 30 - 4 * label;
        write_bytes(path, jpeg ? make_jpeg({.h = h, .w = w, .channels = label == 1 ? 1 : 3})
                               : make_png({.h = h, .w = w, .color_type = label == 1 ? 0 : 2}));
      }
      ++label;
    }
  }
}

}  // namespace convoy::test
