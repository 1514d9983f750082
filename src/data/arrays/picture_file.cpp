/// Chooses the library by the first bytes; reads PNG itself.
#include "data/arrays/picture_file.h"

#include <fstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/io/foreign_kind.h"

#include "data/images/png_reading.h"

namespace convoy {

namespace {

using namespace std::string_view_literals;

// A file of TIFF begins with its byte order and 42, or 43 if its offsets have 64 bits.
constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n"sv;
constexpr std::string_view kTiffs[] = {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv};

bool is_tiff(std::span<const std::byte> first) {
  for (const std::string_view begin : kTiffs)
    if (begins_with(first, begin)) return true;
  return false;
}

class PngPicture final : public PictureReading {
 public:
  explicit PngPicture(std::span<const std::byte> file) : reading_(file) {
    const ImageHeader header = reading_.begin();
    const PngReading::Numbers numbers = reading_.keep_numbers();
    form_ = {numbers.bits == 16 ? ElementType::kUint16 : ElementType::kUint8, header.h, header.w, numbers.channels};
  }

  PictureForm form() const override { return form_; }
  void read(std::span<std::byte> numbers) override {
    std::vector<png_bytep> rows;
    const std::size_t row_bytes = numbers.size() / static_cast<std::size_t>(form_.h);
    for (std::size_t at = 0; at < numbers.size(); at += row_bytes)
      rows.push_back(reinterpret_cast<png_bytep>(numbers.data() + at));
    reading_.read(rows);
  }

 private:
  PngReading reading_;
  PictureForm form_;
};

}  // namespace

std::string to_string(const PictureForm& form) {
  return fmt::format("{} ({}, {}, {})", to_string(form.type), form.h, form.w, form.channels);
}

std::unique_ptr<PictureReading> begin_picture(std::span<const std::byte> file) {
  if (begins_with(file, kPng)) return std::make_unique<PngPicture>(file);
  if (is_tiff(file)) return begin_tiff(file);
  fail("it is neither PNG nor TIFF, whose numbers can be kept");
}

bool is_picture(const std::string& path) {
  std::string first(kPng.size(), '\0');
  std::ifstream(path, std::ios::binary).read(first.data(), std::ssize(first));
  return first == kPng || is_tiff(std::as_bytes(std::span(first)));
}

}  // namespace convoy
