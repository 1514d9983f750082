/// Images as people keep them: ROOT/[SPLIT/]CLASS/IMAGE, JPEG or PNG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/image_source.h"

namespace convoy {

/// Split folders are train*, val* and test* in any case; without them the root is one split, train. A folder is a split
/// only where it holds folders, so that a class may be named train. Classes and, below them, images (in folders of
/// their own too) come in the order of their names' bytes; data/folder_walk.h says what is seen of links. Throws
/// RequestError: no folders, no train, two folders for a split, an empty class, a class that train has not; a link to
/// nothing where a class or split may be; and where another folder seems to be meant: classes that are all named as
/// splits, a class whose images all lie in splits, one class only.
SourceListing list_image_folder(const std::string& root);

// What an image folder that is not imported needs too (data/image_folder.h).

/// 0, 1, 2 for train, val, test; nothing for a folder that is no split.
std::optional<std::size_t> split_of(const std::filesystem::path& folder, const std::string& key);
/// At most `most_bytes` of it, into `file`; the file's size. Throws Error, also where it is longer than any image's.
std::uint64_t read_image_file(const std::string& path, std::uint64_t most_bytes, std::vector<std::byte>& file);

class FolderSource final : public ImageSource {
 public:
  /// `orients`: images are turned as their Exif orientation says.
  FolderSource(std::string root, SourceListing listing, bool orients = false);

  bool has_files() const override { return true; }
  ImageHeader look(const SourceSplit& split, std::int64_t sample) override;
  std::int64_t file_bytes(const SourceSplit& split, std::int64_t sample) const override;
  ImageView read(const SourceSplit& split, std::int64_t sample, const DecodeRequest& request) override;
  std::span<const std::byte> file() const override { return file_; }

 private:
  void fetch(const SourceSplit& split, std::int64_t sample, std::uint64_t most_bytes);

  std::string root_;
  std::vector<std::byte> file_;
  bool whole_ = false;  ///< file_ holds all of it
  ImageDecoder decoder_;
};

}  // namespace convoy
