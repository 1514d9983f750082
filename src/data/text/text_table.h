/// Texts in the rows of tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/text/table_reader.h"
#include "data/text/text_source.h"

namespace convoy {

/// Columns, by the names in a table's first row.
struct TableColumns {
  std::string text, label;
  bool needs_label = true;  ///< a table without such a column is refused; else its texts have no classes
};

/// Where the columns stand; the label's is -1 where there is none.
struct TableHeader {
  std::int64_t num_fields = 0, text = 0, label = -1;
};

/// A table of each split. A path of one table is the split train; in a folder, tables are named as splits are: train*,
/// val* and test*, in any case. Classes are what the column of labels holds in train, in the order of the numbers where
/// all are whole numbers, else of the bytes. Names of samples are FILE:LINE. Rows that cannot be used are listed too:
/// read() says what is wrong with them. Throws RequestError naming `key`: no tables, two of a split, none of train, a
/// column that is not there, no rows, a class that train does not have, one class only (where labels are needed).
SourceListing list_tables(const std::string& path, const TableColumns& columns, const std::string& key);

/// Tables in the folder, or the one at `path`: their names, in the order of the splits; empty where there are none.
std::vector<std::pair<std::string, std::string>> find_tables(const std::string& path, const std::string& key);

class TextTable final : public TextSource {
 public:
  /// Of list_tables(): its source_ids are the rows' positions in their files.
  TextTable(const std::string& path, SourceListing listing, const TableColumns& columns);

  std::string_view read(const SourceSplit& split, std::int64_t sample) override;
  std::int64_t text_bytes(const SourceSplit& split, std::int64_t sample) const override;

 private:
  /// Brings the reader to a row of the file.
  void go_to(const std::string& file, std::int64_t offset);

  std::string folder_;
  TableColumns columns_;
  std::string file_;  ///< that the reader reads
  std::optional<TableReader> reader_;
  TableHeader header_;
  TableRow row_;
};

}  // namespace convoy
