/// Reads TIFF by libtiff, from memory. What the header says is checked before memory is taken for it.
#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <tiffio.h>

#include "convoy/base/error.h"

#include "data/arrays/picture_file.h"
#include "data/images/decode_image.h"

namespace convoy {

namespace {

constexpr std::int64_t kMaxPictureBytes = std::int64_t{1} << 31;
constexpr tmsize_t kMaxLibraryBytes = tmsize_t{64} << 20;  // what libtiff takes at once, beyond the size of the file
constexpr std::int64_t kMaxTiffChannels = 4096;
// LZW packs at most some 2700 bytes in one, deflate 1032. A file with a better method and a constant picture is
// refused, too: it says nothing.
constexpr std::int64_t kMaxBytesPerByte = 4096;

/// What libtiff's callbacks read, and the first error that they tell.
struct Content {
  std::span<const std::byte> file;
  std::size_t at = 0;
  std::array<char, 200> message = {};
};

tmsize_t read_bytes(thandle_t handle, void* to, tmsize_t size) {
  auto& content = *static_cast<Content*>(handle);
  const std::size_t left = content.at < content.file.size() ? content.file.size() - content.at : 0;
  const std::size_t count = std::min(static_cast<std::size_t>(size), left);
  if (count > 0) std::memcpy(to, content.file.data() + content.at, count);
  content.at += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t write_nothing(thandle_t, void*, tmsize_t) {
  return 0;
}

toff_t seek(thandle_t handle, toff_t offset, int whence) {
  auto& content = *static_cast<Content*>(handle);
  const std::size_t from = whence == SEEK_CUR ? content.at : whence == SEEK_END ? content.file.size() : 0;
  content.at = from + offset;
  return content.at;
}

int close_nothing(thandle_t) {
  return 0;
}

toff_t size_of_file(thandle_t handle) {
  return static_cast<Content*>(handle)->file.size();
}

int note_error(TIFF*, void* data, const char* /*module*/, const char* format, va_list arguments) {
  auto& content = *static_cast<Content*>(data);
  if (content.message.front() == '\0')
    std::vsnprintf(content.message.data(), content.message.size(), format, arguments);
  return 1;  // nothing is printed
}

int ignore_warning(TIFF*, void*, const char*, const char*, va_list) {
  return 1;
}

std::optional<ElementType> type_of(int format, int bits) {
  using enum ElementType;
  constexpr struct {
    int format, bits;
    ElementType type;
  } kTypes[] = {
      {SAMPLEFORMAT_UINT, 8, kUint8},      {SAMPLEFORMAT_UINT, 16, kUint16},   {SAMPLEFORMAT_UINT, 32, kUint32},
      {SAMPLEFORMAT_UINT, 64, kUint64},    {SAMPLEFORMAT_INT, 8, kInt8},       {SAMPLEFORMAT_INT, 16, kInt16},
      {SAMPLEFORMAT_INT, 32, kInt32},      {SAMPLEFORMAT_INT, 64, kInt64},     {SAMPLEFORMAT_IEEEFP, 16, kFloat16},
      {SAMPLEFORMAT_IEEEFP, 32, kFloat32}, {SAMPLEFORMAT_IEEEFP, 64, kFloat64}};
  for (const auto& entry : kTypes)
    if (entry.format == format && entry.bits == bits) return entry.type;
  return std::nullopt;
}

class TiffPicture final : public PictureReading {
 public:
  explicit TiffPicture(std::span<const std::byte> file) : content_{.file = file} {
    TIFFOpenOptions* const options = TIFFOpenOptionsAlloc();
    TIFFOpenOptionsSetErrorHandlerExtR(options, note_error, &content_);
    TIFFOpenOptionsSetWarningHandlerExtR(options, ignore_warning, nullptr);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, static_cast<tmsize_t>(file.size()) + kMaxLibraryBytes);
    tiff_.reset(TIFFClientOpenExt("picture", "rm", &content_, read_bytes, write_nothing, seek, close_nothing,
                                  size_of_file, nullptr, nullptr, options));
    TIFFOpenOptionsFree(options);
    if (tiff_ == nullptr) refuse_damage();
    read_form();
  }

  PictureForm form() const override { return form_; }

  void read(std::span<std::byte> numbers) override {
    const std::int64_t num_planes = is_separate_ ? form_.channels : 1;
    for (std::int64_t plane = 0; plane < num_planes; ++plane) {
      if (TIFFIsTiled(tiff_.get()) != 0)
        read_tiles(numbers, plane);
      else
        read_rows(numbers, plane);
    }
  }

 private:
  struct Close {
    void operator()(TIFF* tiff) const { TIFFClose(tiff); }
  };

  [[noreturn]] void refuse_damage() const {
    fail("it is damaged: {}", content_.message.front() == '\0' ? "libtiff cannot read it" : content_.message.data());
  }

  template <typename Value>
  Value field(int tag) {
    Value value = 0;
    TIFFGetFieldDefaulted(tiff_.get(), static_cast<std::uint32_t>(tag), &value);
    return value;
  }

  void read_form() {
    form_.h = field<std::uint32_t>(TIFFTAG_IMAGELENGTH);
    form_.w = field<std::uint32_t>(TIFFTAG_IMAGEWIDTH);
    form_.channels = field<std::uint16_t>(TIFFTAG_SAMPLESPERPIXEL);
    is_separate_ = field<std::uint16_t>(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
    const int bits = field<std::uint16_t>(TIFFTAG_BITSPERSAMPLE), format = field<std::uint16_t>(TIFFTAG_SAMPLEFORMAT);
    const int colours = field<std::uint16_t>(TIFFTAG_PHOTOMETRIC);
    if (form_.channels < 1 || form_.channels > kMaxTiffChannels)
      fail("it has {} channels. Allowed: 1 to {}", form_.channels, kMaxTiffChannels);
    for (const auto& [kind, what] : {std::pair(PHOTOMETRIC_PALETTE, "indices of a palette"),
                                     {PHOTOMETRIC_YCBCR, "YCbCr colours"},
                                     {PHOTOMETRIC_CIELAB, "Lab colours"},
                                     {PHOTOMETRIC_LOGL, "logarithms"},
                                     {PHOTOMETRIC_LOGLUV, "logarithms"}})
      if (colours == kind) fail("its numbers are {}. Convert it to grey or RGB", what);
    const auto type = type_of(format == SAMPLEFORMAT_VOID ? SAMPLEFORMAT_UINT : format, bits);
    if (!type)
      fail("its numbers have {} bits and the format {}. Allowed: integers and floats of 8 to 64 bits", bits, format);
    form_.type = *type;
    const auto bytes_of_pixel = form_.channels * size_of(form_.type);
    check_dimensions(form_.h, form_.w, content_.file.size(),
                     std::max<std::int64_t>(1, kMaxBytesPerByte / bytes_of_pixel));
    if (form_.bytes() >= kMaxPictureBytes) fail("its numbers take {} bytes. Allowed: below 2 GiB", form_.bytes());
    if (TIFFLastDirectory(tiff_.get()) == 0)
      fail("it has several pages. Write each as a file of its own, or all as channels of one");
  }

  std::size_t pixel_bytes() const {
    return static_cast<std::size_t>((is_separate_ ? 1 : form_.channels) * size_of(form_.type));
  }

  // Copies pixels of a plane to their row, from `first` on.
  void put(std::span<std::byte> numbers, std::int64_t plane, std::int64_t row, std::int64_t first,
           std::span<const std::byte> pixels) const {
    const std::size_t from = pixel_bytes(), to = static_cast<std::size_t>(form_.channels * size_of(form_.type));
    std::byte* out = numbers.data() + static_cast<std::size_t>(row * form_.w + first) * to +
                     static_cast<std::size_t>(plane) * (is_separate_ ? from : 0);
    if (from == to) {
      std::ranges::copy(pixels, out);
      return;
    }
    for (; !pixels.empty(); pixels = pixels.subspan(from), out += to) std::memcpy(out, pixels.data(), from);
  }

  void read_rows(std::span<std::byte> numbers, std::int64_t plane) {
    std::vector<std::byte> row(static_cast<std::size_t>(form_.w) * pixel_bytes());
    if (TIFFScanlineSize64(tiff_.get()) != row.size()) fail("it is damaged: a row has another size than its pixels");
    for (std::int64_t y = 0; y < form_.h; ++y) {
      if (TIFFReadScanline(tiff_.get(), row.data(), static_cast<std::uint32_t>(y), static_cast<std::uint16_t>(plane)) <
          0)
        refuse_damage();
      put(numbers, plane, y, 0, row);
    }
  }

  void read_tiles(std::span<std::byte> numbers, std::int64_t plane) {
    const std::int64_t h = field<std::uint32_t>(TIFFTAG_TILELENGTH), w = field<std::uint32_t>(TIFFTAG_TILEWIDTH);
    const std::size_t row_bytes = static_cast<std::size_t>(w) * pixel_bytes();
    const auto bytes = static_cast<std::int64_t>(row_bytes) * h;
    if (h < 1 || w < 1 || h > kMaxImageSide || w > kMaxImageSide ||
        TIFFTileSize64(tiff_.get()) != static_cast<std::uint64_t>(bytes) || bytes >= kMaxPictureBytes ||
        bytes / kMaxBytesPerByte > std::ssize(content_.file))
      fail("it is damaged: its tiles have {} x {} pixels", h, w);
    std::vector<std::byte> tile(static_cast<std::size_t>(bytes));
    for (std::int64_t y = 0; y < form_.h; y += h)
      for (std::int64_t x = 0; x < form_.w; x += w) {
        if (TIFFReadTile(tiff_.get(), tile.data(), static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 0,
                         static_cast<std::uint16_t>(plane)) < 0)
          refuse_damage();
        const auto width = static_cast<std::size_t>(std::min(w, form_.w - x)) * pixel_bytes();
        for (std::int64_t row = 0; row < std::min(h, form_.h - y); ++row)
          put(numbers, plane, y + row, x, std::span(tile).subspan(static_cast<std::size_t>(row) * row_bytes, width));
      }
  }

  Content content_;
  std::unique_ptr<TIFF, Close> tiff_;
  PictureForm form_;
  bool is_separate_ = false;  ///< whether channels are stored one after the other
};

}  // namespace

std::unique_ptr<PictureReading> begin_tiff(std::span<const std::byte> file) {
  return std::make_unique<TiffPicture>(file);
}

}  // namespace convoy
