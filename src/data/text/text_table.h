/// Texts in the rows of tables.
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
  NameList rows;  ///< of each row the fields as CSV, each after a comma; empty for a bad row
};

/// A table of each split. A path of one table is the split train; in a folder, tables are named as splits are
/// (split_of_table), and a warning names the others. A table of test without classes is left out with a warning where
/// classes are needed. Classes are what the column of labels holds in train, in the order of the numbers where
/// all are whole numbers, else of the bytes. Names of samples are FILE:LINE. Rows that cannot be used are listed too:
/// read() says what is wrong with them, and a row that check_row() refuses has the label -1. Throws RequestError naming
/// `key`: no tables, two of a split, none of train, what read_header() and check_columns() refuse, no good rows, a
/// class that train does not have, one class only (where labels are needed). Of one table `carried` takes the other
/// columns, unless it is null.
SourceListing list_tables(const std::string& path, const TableColumns& columns, const std::string& key,
                          CarriedColumns* carried = nullptr);

/// As split_called(); names that begin with dev are of val, too, but devices.csv is of no split.
std::optional<std::size_t> split_of_table(const std::string& name);

/// Tables in the folder, or the one at `path`: their names, in the order of the splits; empty where there are none.
std::vector<std::pair<std::string, std::string>> find_tables(const std::string& path, const std::string& key);

/// Names of the tables in the folder that find_tables() passes over, as no split is called so.
std::vector<std::string> other_tables(const std::string& path);

class TextTable final : public TextSource {
 public:
  /// Of list_tables(): its source_ids are the rows' positions in their files.
  TextTable(const std::string& path, SourceListing listing, const TableColumns& columns);

  std::string_view read(const SourceSplit& split, std::int64_t sample) override;
  std::int64_t text_bytes(const SourceSplit& split, std::int64_t sample) const override;

 private:
  /// Brings the reader to a row of the file.
  void go_to(const std::string& file, std::int64_t line, std::int64_t offset);

  std::string folder_;
  TableColumns columns_;
  std::string file_;  ///< that the reader reads
  std::optional<TableReader> reader_;
  TableHeader header_;
  TableRow row_;
};

}  // namespace convoy
