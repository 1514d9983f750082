/// Reads folders of JPEG and PNG files, for an import, or for commands that use the files without an import.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "convoy/io/sample_store.h"

#include "data/images/image_losses.h"
#include "data/images/image_source.h"

namespace convoy {

/// Reads at most `max_bytes` of the file into `file`; returns the file's size. Throws Error if it cannot be read, or is
/// longer than any image's file.
std::uint64_t read_image_file(const std::string& path, std::uint64_t max_bytes, std::vector<std::byte>& file);

/// The images of an import: ROOT/[SPLIT/]CLASS/IMAGE.
class FolderSource final : public ImageSource {
 public:
  /// `listing` has the files, relative to `root`. If `orients`, images are turned as their Exif orientation says.
  FolderSource(std::string root, SourceListing listing, bool orients = false);

  bool has_files() const override { return true; }
  ImageHeader read_header(const SourceSplit& split, std::int64_t sample) override;
  std::int64_t file_bytes(const SourceSplit& split, std::int64_t sample) const override;
  ImageView read(const SourceSplit& split, std::int64_t sample, const DecodeRequest& request) override;
  std::span<const std::byte> file() const override { return file_; }

 private:
  void fetch(const SourceSplit& split, std::int64_t sample, std::uint64_t max_bytes);

  std::string root_;
  std::vector<std::byte> file_;
  bool whole_ = false;  ///< whether file_ has the whole file, not only its beginning
  ImageDecoder decoder_;
};

/// Images that are used without an import.
class ImageFolder final : public io::SampleStore {
 public:
  /// `listing` has the files, relative to `folder`. Images are used with `channels` channels. If `orients`, they are
  /// turned as their Exif orientation says.
  ImageFolder(std::string folder, SourceListing listing, std::int64_t channels, bool orients = false);

  const io::DatasetInfo& info() const override { return info_; }
  std::span<const std::byte> read_file(std::int64_t sample, std::vector<std::byte>& memory) const override;
  std::int32_t label(std::int64_t sample) const override;
  std::string name(std::int64_t sample) const override { return std::string(files().names[sample]); }

  /// Returns, on rank 0, sentences that say which of the images that any rank has read lost low bits or an alpha
  /// channel; empty on other ranks. Called by all ranks of `world`.
  std::vector<std::string> describe_losses(const mpi::Communicator& world) const;

 private:
  const SourceSplit& files() const { return listing_.splits.front(); }

  SourceListing listing_;
  io::DatasetInfo info_;
  mutable ImageLosses losses_;  ///< what the images that this rank has read lose when they are decoded
};

}  // namespace convoy
