/// Reads PNG files by libpng, as decode_png.cpp and the arrays of pictures need it.
#pragma once

#include <array>
#include <csetjmp>
#include <cstddef>
#include <span>

#include <png.h>

#include "convoy/base/error.h"

#include "data/images/decode_image.h"

namespace convoy {

/// libpng's two structures for one file: they cannot be used again for another. Errors of the library arrive by
/// longjmp, which must not pass a C++ destructor: it is only called inside run(), in functions that own nothing. All
/// members throw Error with a reason if the file is faulty.
class PngReading {
 public:
  explicit PngReading(std::span<const std::byte> file);
  ~PngReading();
  PngReading(const PngReading&) = delete;
  PngReading& operator=(const PngReading&) = delete;

  /// Reads the header. The file may be cut off within its first pixels.
  ImageHeader begin();
  /// Called after begin(): asks for 8 bits, no alpha, and `channels` of 1 (if the file is grey) or 3. Returns bytes per
  /// row.
  std::size_t convert(int channels);
  /// Channels of a pixel, and bits of each of their numbers.
  struct Numbers {
    int channels = 0, bits = 0;
  };
  /// Called after begin(): asks for the numbers that the file has, in the byte order of this machine: 8 bits, also for
  /// fewer, or 16; with an alpha channel if there is one. Only the colours of a palette take the place of its indices.
  Numbers keep_numbers();
  /// Reads the pixels, to the beginning of each row.
  void read(std::span<png_bytep> rows);

 private:
  /// Data of libpng's callbacks.
  struct Context {
    std::span<const std::byte> rest;
    std::jmp_buf jump;
    std::array<char, 200> message;
  };
  [[noreturn]] static void on_error(png_structp png, png_const_charp text);
  static void read_bytes(png_structp png, png_bytep out, std::size_t size);
  bool is_grey();

  /// `step`'s frame must own nothing.
  template <typename Step>
  void run(const Step& step) {
    if (setjmp(context_.jump) != 0) fail("it is damaged: {}", context_.message.data());
    step();
  }

  std::span<const std::byte> file_;
  Context context_ = {};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace convoy
