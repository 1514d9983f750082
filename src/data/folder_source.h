/// Images as people keep them: ROOT/[SPLIT/]CLASS/IMAGE, JPEG or PNG.
#pragma once

#include <string>

#include "data/image_source.h"

namespace convoy {

/// Split folders are train*, val* and test*; without them the root is one split, train. A folder is a split only where
/// it holds folders, so that a class may be named train. Classes and, below them, images (in folders of their own too)
/// come in the order of their names' bytes. Names that begin with a dot are not looked at. Throws RequestError: no
/// folders, no train, two folders for a split, an empty class, a class that train has not.
SourceListing list_image_folder(const std::string& root);

class FolderSource final : public ImageSource {
 public:
  FolderSource(std::string root, SourceListing listing);

  bool has_files() const override { return true; }
  ImageHeader look(const SourceSplit& split, std::int64_t sample) override;
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
