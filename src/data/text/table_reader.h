/// Rows of tables in files: CSV (RFC 4180) and TSV.
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

/// By the file's name: .tsv has tabs and no quotes, any other name commas and quotes.
TableFormat table_format(const std::string& path);

/// What RFC 4180 refuses in a row.
enum class TableFault { kNone, kTextAfterQuote, kOpenQuote, kCarriageReturn };

/// A row's fields. Those past kMaxFields are counted and not kept, and so are a field's bytes past kMaxTextBytes.
struct TableRow {
  std::vector<std::string> fields;
  std::int64_t num_fields = 0;
  TableFault fault = TableFault::kNone;        ///< then the fields are not all, or not right
  std::int64_t longest = 0;                    ///< bytes of the longest field, kept or not
  std::int64_t offset = 0;                     ///< of the row in its file
  std::int64_t first_line = 0, last_line = 0;  ///< of the file, counted from 1
};

/// Lines end in \n or \r\n; empty ones are no rows. After a row with text after a closing quote, or with a quote that
/// the file does not close, reading resumes on the line after the row's first: the lines that its quote has taken in
/// may be rows of their own. A line is read three times at most, whatever the file holds: between a quote and the one
/// that closes it all quotes are doubled, and a field that begins with a doubled quote ends there. Reads ahead by
/// blocks, so that a file of any size takes little memory.
class TableReader {
 public:
  static constexpr std::int64_t kMaxFields = 1000;

  /// Reads in the format of the file's name. Throws Error where the file cannot be read, as next() does.
  explicit TableReader(const std::string& path);
  /// Reads from `offset` on, where a row begins, on this line.
  TableReader(const std::string& path, const TableFormat& format, std::int64_t offset = 0, std::int64_t line = 1);

  /// False at the file's end. `row` keeps its memory.
  bool next(TableRow& row);
  /// Where the next row, or an empty line before it, begins.
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
  std::size_t at_ = 0;  ///< in the block
  std::int64_t line_ = 1;
  std::int64_t length_ = 0;       ///< of the field that is read
  std::int64_t second_line_ = 0;  ///< offset of the row's second line; 0: the row has one line so far
};

/// Whether the name is a table's: .csv or .tsv, in any case.
bool is_table(const std::string& path);

}  // namespace convoy
