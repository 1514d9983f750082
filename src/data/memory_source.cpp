/// Hands images out in the channels that are asked for.
#include "data/memory_source.h"

#include <filesystem>

#include "convoy/base/error.h"
#include "convoy/data/import_idx.h"

namespace convoy {

MemorySource::MemorySource(SourceListing listing, const ImageShape& image, std::vector<std::uint8_t> pixels)
    : ImageSource(std::move(listing)), image_(image), pixels_(std::move(pixels)) {}

ImageHeader MemorySource::look(const SourceSplit&, std::int64_t) {
  return {image_.h, image_.w, image_.c == 1};
}

ImageView MemorySource::read(const SourceSplit& split, std::int64_t sample, const DecodeRequest& request) {
  const std::uint8_t* const pixels = pixels_.data() + split.places[static_cast<std::size_t>(sample)] * image_.count();
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

std::unique_ptr<ImageSource> open_idx(const std::string& folder) {
  IdxSplits read = read_idx_folder(folder);
  SourceListing listing;
  listing.class_names = read.train.info.class_names;
  std::vector<std::uint8_t> pixels = std::move(read.train.images);
  pixels.insert(pixels.end(), read.test.images.begin(), read.test.images.end());
  std::int64_t place = 0;
  for (const auto& [name, content] : {std::pair{"train", &read.train}, std::pair{"test", &read.test}}) {
    SourceSplit& split = listing.splits.emplace_back();
    split.name = name;
    const std::string file = std::filesystem::path(content->info.source).filename().string();
    for (std::size_t i = 0; i < content->labels.size(); ++i) {
      split.add(fmt::format("{}:{}", file, i), content->labels[i], place++);
    }
  }
  return std::make_unique<MemorySource>(std::move(listing), read.train.info.image, std::move(pixels));
}

}  // namespace convoy
