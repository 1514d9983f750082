/// Reads texts that are stored in one file each.
#pragma once

#include <string>

#include "data/class_folders.h"
#include "data/text/text_source.h"

namespace convoy {

/// The kind of sample files for class folders of texts. The folder `unsup` is that of reviews without a class in the
/// data set aclImdb.
inline constexpr ClassFolders kTextFolders = {
    .file = "TEXT.txt", .samples = "texts", .suffix = ".txt", .unlabelled = "unsup"};

class TextFiles final : public TextSource {
 public:
  /// `listing` has the names of the files, relative to `folder`.
  TextFiles(std::string folder, SourceListing listing) : TextSource(std::move(listing)), folder_(std::move(folder)) {}

  std::string_view read(const SourceSplit& split, std::int64_t sample) override;
  std::int64_t text_bytes(const SourceSplit& split, std::int64_t sample) const override;

 private:
  std::string folder_;
  std::string text_;
};

}  // namespace convoy
