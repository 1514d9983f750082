/// How the rows of a table are divided into fields, which follows from the name of its file.
#pragma once

#include <string>

namespace convoy {

/// The way in which the rows of a table are divided into fields.
struct TableFormat {
  char separator = ',';
  /// true: a field in quotes may contain separators, line ends and doubled quotes; false: quotes are ordinary
  /// characters.
  bool has_quotes = true;
};

/// Returns the format of a file by its name: a file named .tsv has tabs and no quotes, others have commas and quotes.
TableFormat table_format(const std::string& path);

/// Returns whether the name ends with .csv or .tsv, in small or capital letters.
bool is_table(const std::string& path);

}  // namespace convoy
