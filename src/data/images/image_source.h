/// Reads images from any format: all are listed once, then read one by one.
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
#include "convoy/params/choices.h"

#include "data/images/decode_image.h"
#include "data/source_listing.h"

namespace convoy {

struct ImportParams;

/// A source of images. Each rank has its own; not for several threads.
class ImageSource {
 public:
  virtual ~ImageSource() = default;

  const SourceListing& listing() const { return listing_; }
  SourceListing& listing() { return listing_; }
  /// Whether images are files of their own, which can be kept unchanged.
  virtual bool has_files() const { return false; }
  /// Reads the header of an image. Throws Error with a reason ("it is ...") if the image is faulty; so does read().
  /// Results are valid until the next call.
  virtual ImageHeader read_header(const SourceSplit& split, std::int64_t sample) = 0;
  /// Returns the length of the image's file in bytes; 0 if it cannot be known.
  virtual std::int64_t file_bytes(const SourceSplit&, std::int64_t) const { return 0; }
  virtual ImageView read(const SourceSplit& split, std::int64_t sample, const DecodeRequest& request) = 0;
  /// Returns the file of the image that was read last.
  virtual std::span<const std::byte> file() const { return {}; }

 protected:
  explicit ImageSource(SourceListing listing) : listing_(std::move(listing)) {}

 private:
  SourceListing listing_;
};

/// Images of one size, of which a file holds many: every rank that writes some of them reads all of them.
class MemorySource final : public ImageSource {
 public:
  /// `pixels` (N,H,W,C) are images of the shape `image`; the listing's source_ids are their numbers.
  MemorySource(SourceListing listing, const ImageShape& image, std::vector<std::uint8_t> pixels);

  ImageHeader read_header(const SourceSplit& split, std::int64_t sample) override;
  ImageView read(const SourceSplit& split, std::int64_t sample, const DecodeRequest& request) override;

 private:
  ImageShape image_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint8_t> converted_;
};

/// Returns kIdx or kCifar if the folder holds the first files of such a download.
std::optional<ImportFormat> find_packed_format(const std::string& folder);

/// Opens import.source in import.format. Rank 0 lists the images and tells all ranks. Throws RequestError, on all
/// ranks, saying what was looked for. All ranks of the group.
std::unique_ptr<ImageSource> open_source(const ImportParams& params, const mpi::Communicator& world);

}  // namespace convoy
