/// A table's first row, which names the columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/text/table_reader.h"

namespace convoy {

/// Columns, by the names in a table's first row.
struct TableColumns {
  std::string text, label;
  bool needs_label = true;        ///< a table without such a column is refused; else its texts have no classes
  double max_class_fraction = 1;  ///< more classes than this share of the texts of train are refused
};

/// Where the columns stand; the label's is -1 where there is none.
struct TableHeader {
  std::int64_t num_fields = 0, text = 0, label = -1;
  std::vector<std::string> names;
};

/// Reads the first row. Throws RequestError, saying what to do, where a column is missing or occurs twice, and where
/// the file seems to be written in another way than its name says: other separators, UTF-16, carriage returns alone at
/// the ends of lines, no names.
TableHeader read_header(TableReader& reader, const std::string& path, const TableColumns& columns);

/// Throws Error saying what is wrong with the row ("it has ..."), on which lines of the file.
void check_row(const TableRow& row, const TableHeader& header, bool needs_label);

}  // namespace convoy
