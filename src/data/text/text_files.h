/// Reads texts from files of their own.
#pragma once

#include <string>

#include "data/class_folders.h"
#include "data/text/text_source.h"

namespace convoy {

/// Folders of text files. aclImdb keeps reviews without stars in train/unsup.
inline constexpr ClassFolders kTextFolders = {
    .file = "TEXT.txt", .samples = "texts", .suffix = ".txt", .unlabelled = "unsup"};

class TextFiles final : public TextSource {
 public:
  /// Reads the files that the listing names, relative to the folder.
  TextFiles(std::string folder, SourceListing listing) : TextSource(std::move(listing)), folder_(std::move(folder)) {}

  std::string_view read(const SourceSplit& split, std::int64_t sample) override;
  std::int64_t text_bytes(const SourceSplit& split, std::int64_t sample) const override;

 private:
  std::string folder_;
  std::string text_;
};

}  // namespace convoy
