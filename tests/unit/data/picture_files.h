/// Makes pictures of 16 bits, floats and many channels, by the libraries that programs write them with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace convoy::test {

struct TiffPictureSpec {
  int h = 5, w = 4, channels = 1;
  int bits = 16;
  int format = 1;  ///< libtiff's: 1 unsigned, 2 signed, 3 float
  bool is_separate = false;
  int tile = 0;            ///< rows and columns of a tile, a multiple of 16; 0: strips of two rows
  int compression = 1;     ///< libtiff's: 1 none, 5 LZW, 8 deflate
  int photometric = 1;     ///< libtiff's: 1 grey, 2 RGB, 3 palette, 6 YCbCr
  std::string mode = "w";  ///< libtiff's: "wl" and "wb": little- and big-endian; "w8": offsets of 64 bits
  int num_pages = 1;
};
/// Returns the file; `numbers` are (h,w,channels) in the byte order of this machine.
std::vector<std::byte> make_tiff_picture(const TiffPictureSpec& spec, std::span<const std::byte> numbers);

/// Returns a PNG of 16 bits with 1 to 4 channels; `numbers` are (h,w,channels).
std::vector<std::byte> make_deep_png(int h, int w, int channels, std::span<const std::uint16_t> numbers);

}  // namespace convoy::test
