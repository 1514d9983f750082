/// Where an import takes its images from, in whatever format: all listed once, read one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/params/parameters.h"

#include "data/images/decode_image.h"
#include "data/source_listing.h"

namespace convoy {

/// One per rank; not for several threads.
class ImageSource {
 public:
  virtual ~ImageSource() = default;

  const SourceListing& listing() const { return listing_; }
  SourceListing& listing() { return listing_; }
  /// Whether images are files of their own, which can be kept unchanged.
  virtual bool has_files() const { return false; }
  /// These throw Error saying what is wrong with the image ("it is ..."). What they return holds until the next call.
  virtual ImageHeader read_header(const SourceSplit& split, std::int64_t sample) = 0;
  /// Length of its file; 0 where that cannot be known.
  virtual std::int64_t file_bytes(const SourceSplit&, std::int64_t) const { return 0; }
  virtual ImageView read(const SourceSplit& split, std::int64_t sample, const DecodeRequest& request) = 0;
  /// The file of the image that was read last.
  virtual std::span<const std::byte> file() const { return {}; }

 protected:
  explicit ImageSource(SourceListing listing) : listing_(std::move(listing)) {}

 private:
  SourceListing listing_;
};

/// Images that come many in a file, all of one size: read whole by every rank that writes some of them.
class MemorySource final : public ImageSource {
 public:
  /// `pixels`: (N,H,W,C) of `image`; the listing's source_ids are numbers of images in it.
  MemorySource(SourceListing listing, const ImageShape& image, std::vector<std::uint8_t> pixels);

  ImageHeader read_header(const SourceSplit& split, std::int64_t sample) override;
  ImageView read(const SourceSplit& split, std::int64_t sample, const DecodeRequest& request) override;

 private:
  ImageShape image_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint8_t> converted_;
};

/// kIdx or kCifar where the folder holds the first files of such a download.
std::optional<ImportFormat> find_packed_format(const std::string& folder);

/// import.source in import.format. Rank 0 lists, all know the list. Throws RequestError, on all ranks alike, saying
/// what was looked for. All ranks of the group.
std::unique_ptr<ImageSource> open_source(const ImportParams& params, const mpi::Communicator& world);

}  // namespace convoy
