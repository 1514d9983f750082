/// Reads the images of an import from any format. All images are listed first, then read one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convoy/params/choices.h"

#include "data/images/decode_image.h"
#include "data/source_listing.h"

namespace convoy {

/// The images of an import. Each rank has its own object, which only one thread may use.
class ImageSource {
 public:
  virtual ~ImageSource() = default;

  const SourceListing& listing() const { return listing_; }
  SourceListing& listing() { return listing_; }
  /// Whether each image is a file of its own, which the import can store unchanged.
  virtual bool has_files() const { return false; }
  /// Reads the header of an image. Throws Error with a reason ("it is ...") if the image is faulty.
  virtual ImageHeader read_header(const SourceSplit& split, std::int64_t sample) = 0;
  /// Returns the length of the image's file in bytes; 0 if it cannot be known.
  virtual std::int64_t file_bytes(const SourceSplit&, std::int64_t) const { return 0; }
  /// Decodes an image. The view is valid until the next call. Throws Error with a reason ("it is ...") if the image is
  /// faulty.
  virtual ImageView read(const SourceSplit& split, std::int64_t sample, const DecodeRequest& request) = 0;
  /// Returns the bytes of the file of the image that was read last; empty if has_files() is false.
  virtual std::span<const std::byte> file() const { return {}; }

 protected:
  explicit ImageSource(SourceListing listing) : listing_(std::move(listing)) {}

 private:
  SourceListing listing_;
};

/// Images of one size that are in memory: formats with many images in a file are read as a whole, on every rank that
/// writes some of the images.
class MemorySource final : public ImageSource {
 public:
  /// `pixels` (N,H,W,C) has the images, of the shape `image`. SourceSplit::source_ids of the listing are their indices
  /// n.
  MemorySource(SourceListing listing, const ImageShape& image, std::vector<std::uint8_t> pixels);

  ImageHeader read_header(const SourceSplit& split, std::int64_t sample) override;
  ImageView read(const SourceSplit& split, std::int64_t sample, const DecodeRequest& request) override;

 private:
  ImageShape image_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint8_t> converted_;
};

/// Returns kIdx or kCifar if the folder has the first files of a data set in this format; else nothing.
std::optional<ImportFormat> find_packed_format(const std::string& folder);

}  // namespace convoy
