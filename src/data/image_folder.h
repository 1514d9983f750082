/// Images that are used where they lie, without an import.
#pragma once

#include <string>
#include <vector>

#include "convoy/io/sample_store.h"

#include "data/image_source.h"

namespace convoy {

/// One split, of all files; see open_samples(). Throws RequestError naming `key`.
SourceListing list_any_images(const std::string& folder, const std::string& key);
/// Of the folder that the file lies in.
SourceListing list_one_image(const std::string& path);

class ImageFolder final : public io::SampleStore {
 public:
  /// `channels` that files are decoded to; `orients`: turned as their Exif orientation says.
  ImageFolder(std::string folder, SourceListing listing, std::int64_t channels, bool orients = false);

  const io::DatasetInfo& info() const override { return info_; }
  void read_pixels(std::int64_t sample, std::span<std::byte> pixels) const override;
  std::span<const std::byte> read_file(std::int64_t sample, std::vector<std::byte>& memory) const override;
  std::int32_t label(std::int64_t sample) const override;
  std::string name(std::int64_t sample) const override { return std::string(files().names[sample]); }

 private:
  const SourceSplit& files() const { return listing_.splits.front(); }

  SourceListing listing_;
  io::DatasetInfo info_;
};

}  // namespace convoy
