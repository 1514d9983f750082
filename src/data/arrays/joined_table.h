/// Reads the rows of tables by their numbers, as if the tables were one: those of each file follow those of the file
/// before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/arrays/number_table.h"

namespace convoy {

/// Where a row begins. Every 256th row has a mark, and the first one of each file, so that any row is found quickly
/// and 10^7 rows take 1.3 MB.
struct RowMark {
  std::int64_t row = 0, file = 0, offset = 0, line = 0;
};

/// Tables with the same columns in any order. The marks are made while the rows are read for the first time.
class JoinedTable {
 public:
  /// Throws RequestError if a table cannot be read (NumberTable), or lacks a column of the first.
  explicit JoinedTable(std::vector<std::string> paths);

  const std::vector<std::string>& paths() const { return paths_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& note() const { return note_; }  ///< of the first file, as NumberTable::note()
  /// Reads a row. Returns false if the table has fewer. Throws Error as NumberTable::next() does.
  bool go_to(std::int64_t row);
  /// The field of the row that go_to() has read. `column` is an index in names().
  std::string_view text(std::size_t column) const { return table_->text(column_of(column)); }
  /// The field as a number; throws Error as NumberTable::number() does.
  double number(std::size_t column) const { return table_->number(column_of(column)); }
  /// The file's name and the line of the row that go_to() has read: "wine.csv:18".
  std::string place() const;

  /// Reads all rows that were not read yet.
  void count();
  std::int64_t num_rows() const { return num_rows_; }
  const std::vector<RowMark>& marks() const { return marks_; }
  /// Takes the marks of another object that has read all rows.
  void set_marks(std::vector<RowMark> marks, std::int64_t num_rows);

 private:
  void open(std::size_t file);
  bool next();
  std::size_t column_of(std::size_t column) const { return columns_.empty() ? column : columns_[column]; }

  std::vector<std::string> paths_, names_;
  std::string note_;
  std::vector<std::string> file_names_;  ///< of the paths, without their folders
  std::optional<NumberTable> table_;     ///< the table that is being read
  std::size_t file_ = 0;                 ///< its index in paths_
  std::vector<std::size_t> columns_;     ///< index in it of each of names_; empty: the same
  std::int64_t row_ = -1;                ///< number of the row that was read last
  std::int64_t num_rows_ = 0;            ///< number of rows that are known
  bool is_complete_ = false;             ///< whether there are no others
  std::vector<RowMark> marks_;
};

}  // namespace convoy
