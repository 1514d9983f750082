/// Reads texts from the rows of CSV and TSV tables.
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

/// The columns of a table other than those of texts and classes. A prediction copies them to its output.
struct CarriedColumns {
  std::vector<std::string> names;
  NameList rows;  ///< the columns' fields of each row as CSV, each after a comma; empty for a row that cannot be used
};

/// Lists the rows of tables, one table for each split. If `path` is a table, it is the split train. If it is a folder,
/// the name of each table tells its split (split_of_table()), and a warning names other tables. If labels are needed, a
/// table of test without classes is left out with a warning. Classes are the values of the column of labels in train,
/// in the order of the numbers if all are whole numbers, else of the bytes. Names of samples are FILE:LINE. Rows that
/// cannot be used are listed, too: read() throws an Error that says what is wrong with them, and a row that check_row()
/// refuses has the label -1. If there is one table and `carried` is not null, `carried` gets its other columns. Throws
/// RequestError, naming the key `key`, if there are no tables, two tables of a split, no table of train, no good rows,
/// a class that train does not have, or only one class although labels are needed. Also throws the RequestErrors of
/// read_header() and check_columns().
SourceListing list_tables(const std::string& path, const TableColumns& columns, const std::string& key,
                          CarriedColumns* carried = nullptr);

/// Returns the split that a table's name means: 0, 1 or 2 for train, val or test, as split_called() does; nothing if it
/// means none. Names such as dev_matched.csv mean val, too, but devices.csv means no split.
std::optional<std::size_t> split_of_table(const std::string& name);

/// Finds the tables of splits in the folder `path`, or the table `path` itself. Returns pairs of a split's name and a
/// table's path, in the order of the splits; empty if there are none. Throws RequestError, naming the key `key`, if two
/// tables are of the same split.
std::vector<std::pair<std::string, std::string>> find_tables(const std::string& path, const std::string& key);

/// Returns the names of the tables in the folder that find_tables() ignores, because their names mean no split.
std::vector<std::string> other_tables(const std::string& path);

class TextTable final : public TextSource {
 public:
  /// `listing` was made by list_tables(). Its SourceSplit::source_ids are the offsets in bytes of rows in their files.
  TextTable(const std::string& path, SourceListing listing, const TableColumns& columns);

  std::string_view read(const SourceSplit& split, std::int64_t sample) override;
  std::int64_t text_bytes(const SourceSplit& split, std::int64_t sample) const override;

 private:
  /// Sets reader_ to the row at the byte `offset` of a file, which is on line `line`.
  void go_to(const std::string& file, std::int64_t line, std::int64_t offset);

  std::string folder_;
  TableColumns columns_;
  std::string file_;  ///< name of the file that reader_ reads
  std::optional<TableReader> reader_;
  TableHeader header_;
  TableRow row_;
};

}  // namespace convoy
