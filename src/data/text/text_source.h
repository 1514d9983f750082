/// Reads texts from files or tables. All texts are listed first, then read one by one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "data/class_folders.h"
#include "data/source_listing.h"

namespace convoy {

/// The texts of an import or of a prediction. Each rank has its own object, which only one thread may use.
class TextSource {
 public:
  virtual ~TextSource() = default;

  const SourceListing& listing() const { return listing_; }
  SourceListing& listing() { return listing_; }
  /// Reads a text and checks it by check_text(). The result is valid until the next call. Throws Error with a reason if
  /// the text is not accepted.
  virtual std::string_view read(const SourceSplit& split, std::int64_t sample) = 0;
  /// Returns the approximate size of a text in bytes, without reading it; 0 if it is not known.
  virtual std::int64_t text_bytes(const SourceSplit& split, std::int64_t sample) const = 0;

 protected:
  explicit TextSource(SourceListing listing) : listing_(std::move(listing)) {}

 private:
  SourceListing listing_;
};

/// The kind of sample files for class folders of texts. The folder `unsup` is that of reviews without a class in the
/// data set aclImdb.
inline constexpr ClassFolders kTextFolders = {
    .file = "TEXT.txt", .samples = "texts", .suffix = ".txt", .unlabelled = "unsup"};

/// Texts that are stored in one file each; a file is read when its text is asked for.
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
