/// Decodes JPEG by libjpeg-turbo. Its errors arrive by longjmp, which must not pass a C++ destructor: the library is
/// only called inside run(), in functions that own nothing.
#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>

#include <jerror.h>
#include <jpeglib.h>

#include "convoy/base/error.h"

#include "data/images/decode_image.h"

namespace convoy {

namespace {

// A progressive image has about ten scans. Each scan passes over all coefficients, so that a file of many empty ones
// would take hours.
constexpr int kMaxScans = 100;
// Harmless oddities (bytes between segments, an unknown version) are accepted, up to this number.
constexpr long kMaxWarnings = 100;
// A block of 64 pixels takes at least one bit; the limit is four times higher, for arithmetic coding can do with less.
constexpr std::int64_t kMaxJpegPixelsPerByte = 4 * 8 * 64;
constexpr std::int64_t kMaxShrink = 8;

// Chroma at half the resolution is interpolated between two values, which cover two pixels each; at the edge of what is
// decoded there is only one. A part of one column would also be interpolated in another way.
constexpr std::int64_t kMargin = 2;
// Before version 3.0 the library may miscount the columns of a part if chroma has a quarter of the resolution.
constexpr int kMaxSampling = 2;

/// libjpeg's error handler, with the point to return to.
struct ErrorHandler {
  jpeg_error_mgr base;  // first member: the library knows only this part
  std::jmp_buf jump;
  std::array<char, JMSG_LENGTH_MAX> message;
};

[[noreturn]] void leave(j_common_ptr jpeg) {
  auto* const handler = reinterpret_cast<ErrorHandler*>(jpeg->err);
  std::longjmp(handler->jump, 1);
}

[[noreturn]] void error_exit(j_common_ptr jpeg) {
  jpeg->err->format_message(jpeg, reinterpret_cast<ErrorHandler*>(jpeg->err)->message.data());
  leave(jpeg);
}

// Whether the warning means damage, after which the library would continue with grey pixels instead of the missing
// ones.
bool means_damage(int code) {
  return code == JWRN_HIT_MARKER || code == JWRN_JPEG_EOF || code == JWRN_HUFF_BAD_CODE || code == JWRN_MUST_RESYNC ||
         code == JWRN_BOGUS_PROGRESSION;
}

void emit_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  ++jpeg->err->num_warnings;
  if (means_damage(jpeg->err->msg_code) || jpeg->err->num_warnings > kMaxWarnings) error_exit(jpeg);
}

void count_scans(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMaxScans) return;
  auto& message = reinterpret_cast<ErrorHandler*>(jpeg->err)->message;
  std::snprintf(message.data(), message.size(), "it has more than %d scans", kMaxScans);
  leave(jpeg);
}

/// Converts four bytes per pixel to one or three. All are taken as inverted, as Adobe's programs store them, with or
/// without Adobe's segment in the file: Pillow does the same.
void convert_cmyk(std::span<const std::uint8_t> cmyk, std::int64_t channels, std::uint8_t* out) {
  for (std::size_t i = 0; i < cmyk.size(); i += 4, out += channels) {
    const int k = cmyk[i + 3];
    const auto light = [&](std::size_t c) { return (cmyk[i + c] * k + 127) / 255; };
    const std::array<int, 3> rgb = {light(0), light(1), light(2)};
    if (channels == 1) {
      out[0] = luma(rgb[0], rgb[1], rgb[2]);
    } else {
      for (std::size_t c = 0; c < 3; ++c) out[c] = static_cast<std::uint8_t>(rgb[c]);
    }
  }
}

class JpegCodec final : public ImageCodec {
 public:
  JpegCodec() {
    jpeg_.err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = error_exit;
    errors_.base.emit_message = emit_message;
    if (!run([this] { jpeg_create_decompress(&jpeg_); })) fail("libjpeg cannot start: {}", errors_.message.data());
    progress_.progress_monitor = count_scans;
    jpeg_.progress = &progress_;
  }
  ~JpegCodec() override { jpeg_destroy_decompress(&jpeg_); }
  JpegCodec(const JpegCodec&) = delete;
  JpegCodec& operator=(const JpegCodec&) = delete;

  ImageHeader read_header(std::span<const std::byte> file) override {
    const ImageHeader header = begin(file);
    jpeg_abort_decompress(&jpeg_);
    return header;
  }

  ImageView decode(std::span<const std::byte> file, const DecodeRequest& request,
                   std::vector<std::uint8_t>& pixels) override {
    // 1. The whole picture
    const ImageHeader header = begin(file);
    check_window(header, request);
    const bool cmyk = jpeg_.num_components == 4;
    jpeg_.scale_num = 1;
    jpeg_.scale_denom = static_cast<unsigned>(shrink_of(header, request));
    jpeg_.out_color_space = cmyk ? JCS_CMYK : request.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    require(run([this] { jpeg_start_decompress(&jpeg_); }));

    // 2. The part of it that is decoded
    const Window window = decodable(request);
    JDIMENSION left = static_cast<JDIMENSION>(window.left), width = static_cast<JDIMENSION>(window.right) - left;
    require(run([&] {
      // moves `left` to the beginning of a block; lossless files (libjpeg-turbo 3) cannot be cropped
      if (width < jpeg_.output_width) jpeg_crop_scanline(&jpeg_, &left, &width);
      if (window.top > 0) jpeg_skip_scanlines(&jpeg_, static_cast<JDIMENSION>(window.top));
    }));

    // 3. Row by row
    const ImageShape shape{window.bottom - window.top, width, request.channels};
    pixels.resize(std::max(pixels.size(), static_cast<std::size_t>(shape.count())));
    cmyk_row_.resize(cmyk ? static_cast<std::size_t>(shape.w) * 4 : 0);
    const std::int64_t row_bytes = shape.w * shape.c;
    require(run([&] {
      while (jpeg_.output_scanline < window.bottom) {
        std::uint8_t* const out = pixels.data() + (jpeg_.output_scanline - window.top) * row_bytes;
        JSAMPROW row = cmyk ? cmyk_row_.data() : out;
        if (jpeg_read_scanlines(&jpeg_, &row, 1) != 1) continue;
        if (cmyk) convert_cmyk(cmyk_row_, shape.c, out);
      }
      if (window.bottom == jpeg_.output_height) {
        jpeg_finish_decompress(&jpeg_);  // reads to the marker of the file's end
      } else {
        jpeg_abort_decompress(&jpeg_);
      }
    }));
    return {shape, pixels.data(), window.top, left};
  }

 private:
  /// Returns true if the library came to the end of `step`, whose frame must own nothing.
  template <typename Step>
  bool run(const Step& step) {
    if (setjmp(errors_.jump) != 0) return false;
    step();
    return true;
  }

  void require(bool done) {
    if (done) return;
    jpeg_abort_decompress(&jpeg_);
    fail("it is damaged: {}", errors_.message.data());
  }

  /// Returns the window asked for with the pixels that it depends on; the whole picture if the library may give other
  /// pixels for a part.
  Window decodable(const DecodeRequest& request) {
    const std::int64_t h = jpeg_.output_height, w = jpeg_.output_width;
    if (!request.window) return {0, 0, h, w};
    if (jpeg_.max_h_samp_factor > kMaxSampling || jpeg_.max_v_samp_factor > kMaxSampling) return {0, 0, h, w};
    // If scans are missing, blocks are smoothed with the help of their neighbours. All scans are read by now anyway.
    if (jpeg_has_multiple_scans(&jpeg_) != 0) return {0, 0, h, w};
    const Window& needed = *request.window;
    return {std::max<std::int64_t>(needed.top - kMargin, 0), std::max<std::int64_t>(needed.left - kMargin, 0),
            std::min(needed.bottom + kMargin, h), std::min(needed.right + kMargin, w)};
  }

  ImageHeader begin(std::span<const std::byte> file) {
    jpeg_abort_decompress(&jpeg_);  // in case the last image ended with an exception
    errors_.base.num_warnings = 0;
    require(run([&] {
      jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(file.data()), file.size());
      jpeg_read_header(&jpeg_, TRUE);
    }));
    const ImageHeader header{jpeg_.image_height, jpeg_.image_width, jpeg_.jpeg_color_space == JCS_GRAYSCALE,
                             kMaxShrink};
    check_dimensions(header.h, header.w, file.size(), kMaxJpegPixelsPerByte);
    if (jpeg_.jpeg_color_space == JCS_UNKNOWN) fail("it has {} channels of unknown meaning", jpeg_.num_components);
    return header;
  }

  jpeg_decompress_struct jpeg_ = {};
  ErrorHandler errors_ = {};
  jpeg_progress_mgr progress_ = {};
  std::vector<std::uint8_t> cmyk_row_;
};

}  // namespace

std::unique_ptr<ImageCodec> make_jpeg_codec() {
  return std::make_unique<JpegCodec>();
}

}  // namespace convoy
