/// A table of numbers: columns by name, and rows whose fields become numbers when they are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/arrays/field_reader.h"

namespace convoy {

/// An open CSV or TSV file. The first row has the names of the columns; if all its fields are numbers, it is a row of
/// values, and the columns are called column1, column2 and so on. The numbers 0, 1, 2 and so on are names.
class NumberTable {
 public:
  /// Throws RequestError naming the file and what is wrong: it cannot be read, has no row of values, names two columns
  /// alike or one not at all, or seems to have another separator than its name says.
  explicit NumberTable(const std::string& path);

  const std::vector<std::string>& names() const { return names_; }
  /// A sentence about the first row if it has numbers; else empty.
  const std::string& note() const { return note_; }
  /// Index of the column with this name. Throws RequestError, with the nearest name, if there is none.
  std::size_t column(std::string_view name) const;

  /// Reads the next row of values. Returns false at the end. Throws Error, naming file and line, if the row has another
  /// number of fields than there are columns, or as FieldReader::next() does.
  bool next();
  /// Offset in bytes of the row that was read last, from which seek() makes next() read it again.
  std::int64_t offset() const { return reader_.offset(); }
  std::int64_t line() const { return reader_.line(); }
  /// Makes next() read the row at this offset; `line` is the number of its first line.
  void seek(std::int64_t offset, std::int64_t line) { reader_.seek(offset, line); }

  /// The field of the row that was read last, without quotes.
  std::string_view text(std::size_t column) const { return reader_.fields()[column]; }
  /// The field as a number; NaN if it is missing (read_number()). Throws Error, naming line, column and field, if it is
  /// no number.
  double number(std::size_t column) const;

 private:
  void read_header();
  void check_names() const;

  FieldReader reader_;
  std::vector<std::string> names_;
  std::string note_;
};

}  // namespace convoy
