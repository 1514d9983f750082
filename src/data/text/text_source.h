/// Reads texts from any form of source: all are listed once, then read one by one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "convoy/comm/communicator.h"
#include "convoy/io/tokenization.h"

#include "data/source_listing.h"

namespace convoy {

struct CarriedColumns;
struct ImportParams;
struct TableColumns;

/// A source of texts. Each rank has its own; not for several threads.
class TextSource {
 public:
  virtual ~TextSource() = default;

  const SourceListing& listing() const { return listing_; }
  SourceListing& listing() { return listing_; }
  /// Returns the text, which check_text() accepts; valid until the next call. Throws Error with a reason if it is not
  /// accepted.
  virtual std::string_view read(const SourceSplit& split, std::int64_t sample) = 0;
  /// Returns about how many bytes the text has, without reading it; 0 if that cannot be known.
  virtual std::int64_t text_bytes(const SourceSplit& split, std::int64_t sample) const = 0;

 protected:
  explicit TextSource(SourceListing listing) : listing_(std::move(listing)) {}

 private:
  SourceListing listing_;
};

/// Whether import.source holds texts rather than images: import.format says so, or, if it is auto, the files at
/// import.source do. Throws RequestError if neither does. All ranks of the group.
bool holds_texts(const ImportParams& params, const mpi::Communicator& world);

/// The texts of an import, and the columns that they come from: empty if each text is a file of its own.
struct ImportedTexts {
  std::unique_ptr<TextSource> source;
  io::ColumnNames columns;
};

/// Opens import.source, for which holds_texts() is true. Rank 0 lists the texts and tells all ranks. Throws
/// RequestError, on all ranks, saying what was looked for. All ranks of the group.
ImportedTexts open_texts(const ImportParams& params, const mpi::Communicator& world);

/// Opens what a prediction is asked for: a folder of texts, a table, or a file with one text. From a table it takes the
/// column of texts and, if the table has it, that of classes; rank 0 gets the others in `carried`. Throws RequestError
/// naming `key`. All ranks of the group.
std::unique_ptr<TextSource> open_any_texts(const std::string& path, const std::string& key, const TableColumns& columns,
                                           const mpi::Communicator& world, CarriedColumns& carried);

}  // namespace convoy
