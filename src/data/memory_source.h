/// Images that come many in a file, all of one size: read whole by every rank that writes some of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/image_source.h"

namespace convoy {

class MemorySource final : public ImageSource {
 public:
  /// `pixels`: (N,H,W,C) of `image`; the listing's places are numbers of images in it.
  MemorySource(SourceListing listing, const ImageShape& image, std::vector<std::uint8_t> pixels);

  bool has_files() const override { return false; }
  ImageHeader look(const SourceSplit& split, std::int64_t sample) override;
  std::int64_t file_bytes(const SourceSplit&, std::int64_t) const override { return 0; }
  ImageView read(const SourceSplit& split, std::int64_t sample, const DecodeRequest& request) override;
  std::span<const std::byte> file() const override { return {}; }

 private:
  ImageShape image_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint8_t> converted_;
};

/// MNIST's four files (convoy/data/import_idx.h). Names: FILE:NUMBER.
std::unique_ptr<ImageSource> open_idx(const std::string& folder);

}  // namespace convoy
