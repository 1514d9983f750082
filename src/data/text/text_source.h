/// Where texts come from, in whatever form: all listed once, read one by one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "convoy/comm/communicator.h"
#include "convoy/io/tokenization.h"
#include "convoy/params/parameters.h"

#include "data/source_listing.h"

namespace convoy {

struct CarriedColumns;
struct TableColumns;

/// One per rank; not for several threads.
class TextSource {
 public:
  virtual ~TextSource() = default;

  const SourceListing& listing() const { return listing_; }
  SourceListing& listing() { return listing_; }
  /// The text, which check_text() accepts; holds until the next call. Throws Error saying what is wrong with it.
  virtual std::string_view read(const SourceSplit& split, std::int64_t sample) = 0;
  /// About how long it is, without reading it; 0 where that cannot be known.
  virtual std::int64_t text_bytes(const SourceSplit& split, std::int64_t sample) const = 0;

 protected:
  explicit TextSource(SourceListing listing) : listing_(std::move(listing)) {}

 private:
  SourceListing listing_;
};

/// Whether import.source holds texts rather than images: import.format says so, or, where it is auto, what lies there.
/// Throws RequestError where nothing does. All ranks of the group.
bool holds_texts(const ImportParams& params, const mpi::Communicator& world);

/// The texts of an import, and the columns that they come from: empty where they are in files of their own.
struct ImportedTexts {
  std::unique_ptr<TextSource> source;
  io::ColumnNames columns;
};

/// import.source, of holds_texts(). Rank 0 lists, all know the list. Throws RequestError, on all ranks alike, saying
/// what was looked for. All ranks of the group.
ImportedTexts open_texts(const ImportParams& params, const mpi::Communicator& world);

/// What a prediction is asked for: a folder of texts, a table, or a file with one text. Of a table the column of the
/// texts and, if the table has it, that of the classes; rank 0 gets the others in `carried`. Throws RequestError naming
/// `key`. All ranks of the group.
std::unique_ptr<TextSource> open_any_texts(const std::string& path, const std::string& key, const TableColumns& columns,
                                           const mpi::Communicator& world, CarriedColumns& carried);

}  // namespace convoy
