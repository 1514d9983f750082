/// Reads the first row of a table, which has the names of the columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/text/table_reader.h"

namespace convoy {

/// The columns of a table that have texts and classes, and what is required of them.
struct TableColumns {
  std::string text, label;        ///< names of the two columns in the first row
  bool needs_label = true;        ///< whether a table without the column `label` is refused; else texts have no classes
  double max_class_fraction = 1;  ///< maximum number of classes in train, as a share of the number of texts
};

/// The columns of a table.
struct TableHeader {
  /// Number of columns; indices, from 0, of the columns of texts and of classes. `label` is -1 if there is no such
  /// column.
  std::int64_t num_fields = 0, text = 0, label = -1;
  std::vector<std::string> names;
};

/// Reads the first row of the table `path`. Throws RequestError, with advice, if a column is missing or occurs twice,
/// or if the file seems to have another format than its name says: other separators, UTF-16, lines that end with a
/// carriage return alone, no names of columns.
TableHeader read_header(TableReader& reader, const std::string& path, const TableColumns& columns);

/// Throws Error with a reason ("it has ...") and the row's line numbers if the row is faulty: it has a
/// TableFault, another number of fields than the header, a field that is too long or, if needs_label, no valid class.
void check_row(const TableRow& row, const TableHeader& header, bool needs_label);

}  // namespace convoy
