/// Finds the format of a folder; reads images in memory.
#include "data/images/image_source.h"

#include <algorithm>
#include <filesystem>

namespace convoy {

namespace {

namespace fs = std::filesystem;

bool has_any(const fs::path& folder, const std::vector<std::string>& names) {
  std::error_code error;
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return fs::is_regular_file(folder / name, error); });
}

}  // namespace

std::optional<ImportFormat> find_packed_format(const std::string& folder) {
  if (has_any(folder, {"train-images-idx3-ubyte", "train-images-idx3-ubyte.gz"})) return ImportFormat::kIdx;
  if (has_any(folder, {"data_batch_1.bin", "train.bin"})) return ImportFormat::kCifar;
  return std::nullopt;
}

MemorySource::MemorySource(SourceListing listing, const ImageShape& image, std::vector<std::uint8_t> pixels)
    : ImageSource(std::move(listing)), image_(image), pixels_(std::move(pixels)) {}

ImageHeader MemorySource::read_header(const SourceSplit&, std::int64_t) {
  return {image_.h, image_.w, image_.c == 1};
}

// Returns the image in the requested number of channels.
ImageView MemorySource::read(const SourceSplit& split, std::int64_t sample, const DecodeRequest& request) {
  const std::uint8_t* const pixels =
      pixels_.data() + split.source_ids[static_cast<std::size_t>(sample)] * image_.count();
  if (request.channels == image_.c) return {image_, pixels};
  const ImageShape shape{image_.h, image_.w, request.channels};
  converted_.resize(static_cast<std::size_t>(shape.count()));
  for (std::int64_t i = 0; i < image_.h * image_.w; ++i) {
    if (shape.c == 1) {
      converted_[static_cast<std::size_t>(i)] = luma(pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2]);
    } else {
      std::fill_n(converted_.begin() + 3 * i, 3, pixels[i]);
    }
  }
  return {shape, converted_.data()};
}

}  // namespace convoy
