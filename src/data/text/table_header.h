/// Reads a table's first row, which names the columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/text/table_reader.h"

namespace convoy {

/// Columns of texts and classes, by the names in a table's first row.
struct TableColumns {
  std::string text, label;
  bool needs_label = true;        ///< a table without the column `label` is refused; else its texts have no classes
  double max_class_fraction = 1;  ///< if train has more classes than this share of its texts, it is refused
};

/// Positions of the columns, counted from 0; the label's is -1 if there is none.
struct TableHeader {
  std::int64_t num_fields = 0, text = 0, label = -1;
  std::vector<std::string> names;
};

/// Reads the first row. Throws RequestError, saying what to do, if a column is missing or occurs twice, and if the file
/// seems to be written in another way than its name says: other separators, UTF-16, carriage returns alone at the ends
/// of lines, no names.
TableHeader read_header(TableReader& reader, const std::string& path, const TableColumns& columns);

/// Throws Error with a reason ("it has ...") and the lines of the file if the row is faulty.
void check_row(const TableRow& row, const TableHeader& header, bool needs_label);

}  // namespace convoy
