/// Reads texts from the rows of tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/text/table_header.h"
#include "data/text/table_reader.h"
#include "data/text/text_source.h"

namespace convoy {

/// The columns of a table other than those of texts and classes, for a prediction to write next to its own.
struct CarriedColumns {
  std::vector<std::string> names;
  NameList rows;  ///< the fields of each row as CSV, each after a comma; empty for a bad row
};

/// Lists the tables, one for each split. If `path` is one table, it is the split train; in a folder, tables are named
/// as splits are (split_of_table()), and a warning names the others. If classes are needed, a table of test without
/// them is left out with a warning. Classes are the values of the column of labels in train, in the order of the
/// numbers if all are whole numbers, else of the bytes. Names of samples are FILE:LINE. Rows that cannot be used are
/// listed, too: read() says what is wrong with them, and a row that check_row() refuses has the label -1. If there is
/// one table and `carried` is not null, `carried` takes its other columns. Throws RequestError naming `key` if there
/// are no tables, two of a split, none of train, no good rows, a class that train does not have, or one class only (if
/// labels are needed), and if read_header() or check_columns() refuse.
SourceListing list_tables(const std::string& path, const TableColumns& columns, const std::string& key,
                          CarriedColumns* carried = nullptr);

/// Returns the split that a table's name means, as split_called() does; names that begin with dev also mean val, but
/// devices.csv means no split.
std::optional<std::size_t> split_of_table(const std::string& name);

/// Finds the tables in the folder, or the one at `path`: their names, in the order of the splits; empty if there are
/// none.
std::vector<std::pair<std::string, std::string>> find_tables(const std::string& path, const std::string& key);

/// Returns the names of the tables in the folder that find_tables() ignores, since they do not name a split.
std::vector<std::string> other_tables(const std::string& path);

class TextTable final : public TextSource {
 public:
  /// Reads texts of a listing that list_tables() made, whose source_ids are the rows' positions in their files.
  TextTable(const std::string& path, SourceListing listing, const TableColumns& columns);

  std::string_view read(const SourceSplit& split, std::int64_t sample) override;
  std::int64_t text_bytes(const SourceSplit& split, std::int64_t sample) const override;

 private:
  /// Brings the reader to a row of the file.
  void go_to(const std::string& file, std::int64_t line, std::int64_t offset);

  std::string folder_;
  TableColumns columns_;
  std::string file_;  ///< file that reader_ reads
  std::optional<TableReader> reader_;
  TableHeader header_;
  TableRow row_;
};

}  // namespace convoy
