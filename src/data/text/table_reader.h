/// Reads rows of tables in files: CSV (RFC 4180) and TSV.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/file_descriptor.h"

namespace convoy {

/// How a table's rows are divided into fields.
struct TableFormat {
  char separator = ',';
  bool has_quotes = true;  ///< a field in quotes may hold separators, line ends and, doubled, quotes; else quotes are
                           ///< letters like others
};

/// Returns the format that the file's name means: .tsv has tabs and no quotes, any other name commas and quotes.
TableFormat table_format(const std::string& path);

/// Faults of a row that RFC 4180 refuses.
enum class TableFault { kNone, kTextAfterQuote, kOpenQuote, kCarriageReturn };

/// Fields of a row. Fields past kMaxFields are counted and not kept, and so are a field's bytes past kMaxTextBytes.
struct TableRow {
  std::vector<std::string> fields;
  std::int64_t num_fields = 0;
  TableFault fault = TableFault::kNone;        ///< if not kNone, fields are missing or wrong
  std::int64_t longest = 0;                    ///< bytes of the longest field, kept or not
  std::int64_t offset = 0;                     ///< bytes from the file's beginning to the row
  std::int64_t first_line = 0, last_line = 0;  ///< lines of the file, counted from 1
};

/// Reads a table row by row. Lines end in \n or \r\n; empty ones are not rows. After a row with text after a closing
/// quote, or with a quote that is never closed, reading resumes at the row's second line: the lines within its quotes
/// may be rows of their own. A line is read three times at most, whatever the file holds: between a quote and the one
/// that closes it all quotes are doubled, and a field that begins with a doubled quote ends there. Reads ahead by
/// blocks, so that a file of any size takes little memory.
class TableReader {
 public:
  static constexpr std::int64_t kMaxFields = 1000;

  /// Reads in the format of the file's name. Throws Error if the file cannot be read; so does next().
  explicit TableReader(const std::string& path);
  /// Reads from `offset` on, at which a row begins; `line` is the number of its line.
  TableReader(const std::string& path, const TableFormat& format, std::int64_t offset = 0, std::int64_t line = 1);

  /// Reads the next row; returns false at the file's end. `row` keeps its memory.
  bool next(TableRow& row);
  /// Offset at which the next row, or an empty line before it, begins.
  std::int64_t offset() const { return block_offset_ + static_cast<std::int64_t>(at_); }

 private:
  static constexpr int kEnd = -1;

  int peek();
  void take() { ++at_; }
  void seek(std::int64_t offset);
  void add(std::string* field, int c);
  void read_field(TableRow& row);
  void read_quoted(TableRow& row, std::string* field);
  void read_plain(TableRow& row, std::string* field);
  void end_row(TableRow& row);

  std::string path_;
  FileDescriptor file_;
  std::int64_t size_ = 0;
  TableFormat format_;
  std::string block_;
  std::int64_t block_offset_ = 0;
  std::size_t at_ = 0;  ///< position in the block
  std::int64_t line_ = 1;
  std::int64_t length_ = 0;       ///< bytes of the field that is being read
  std::int64_t second_line_ = 0;  ///< offset of the row's second line; 0: the row has one line so far
};

/// Whether the name is that of a table: .csv or .tsv, in any case.
bool is_table(const std::string& path);

}  // namespace convoy
