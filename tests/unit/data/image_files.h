/// JPEG and PNG files made for tests, and folders of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace convoy::test {

/// Returns a value of a smooth pattern whose channels differ clearly.
std::uint8_t smooth_byte(int y, int x, int channel);

struct JpegSpec {
  int h = 24, w = 20;
  int channels = 3;   ///< stored: 1, 3, or 4 (cyan, magenta, yellow, black)
  bool ycck = false;  ///< 4 channels as YCCK
  bool adobe = true;  ///< 4 channels: with Adobe's segment
  bool progressive = false;
  bool arithmetic = false;
  bool separate_scans = false;  ///< one for each channel
  int across = 1, down = 1;     ///< all but the first channel are stored at 1/across by 1/down of the resolution
  int restart_rows = 0;         ///< rows of blocks after each of which decoding can begin again; 0: none
  int quality = 100;            ///< 100: each coefficient to the next integer
};
/// `pixels`: (H,W,C).
std::vector<std::byte> make_jpeg(const JpegSpec& spec, std::span<const std::uint8_t> pixels);
/// smooth_byte in every channel.
std::vector<std::byte> make_jpeg(const JpegSpec& spec = {});

struct PngSpec {
  int h = 24, w = 20;
  int color_type = 2;  ///< libpng's: 0 grey, 2 RGB, 3 palette, 4 grey + alpha, 6 RGBA
  int bit_depth = 8;
  bool interlaced = false;
  bool grey_palette = false;
  std::string text;  ///< text of a tEXt chunk
};
/// smooth_byte in every channel, its high bits if the depth is less, also in the low byte if it is 16. The palette has
/// colour i = (i, 255 - i, i / 2), or (i, i, i); pixels are smooth_byte of channel 0. Alpha is x + y.
std::vector<std::byte> make_png(const PngSpec& spec = {});

struct TiffSpec {
  int orientation = 1;
  bool big_endian = false;
  int num_other_entries = 2;  ///< entries before the orientation in its directory
};
/// Returns the content of an Exif segment: a directory with the orientation.
std::vector<std::byte> make_tiff(const TiffSpec& spec);
/// Returns the JPEG with an Exif segment that holds `tiff`.
std::vector<std::byte> with_exif(std::span<const std::byte> jpeg, std::span<const std::byte> tiff);

/// Writes FOLDER/{train,test}/{ant,bee,cat}/NN.{jpg,png}: 7, 8 and 9 images per class in train, 2 in test, of different
/// sizes, one class in folders of its own; all images of a class look alike.
void write_image_folder(const std::string& folder);

}  // namespace convoy::test
