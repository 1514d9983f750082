/// Reads the rows of a table from a CSV (RFC 4180) or TSV file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/base/file_descriptor.h"

#include "data/table_format.h"

namespace convoy {

/// Violations of RFC 4180 in a row.
enum class TableFault { kNone, kTextAfterQuote, kOpenQuote, kCarriageReturn };

/// A row of a table. Fields after the first TableReader::kMaxFields, and bytes of a field after the first
/// kMaxTextBytes, are counted but not stored.
struct TableRow {
  std::vector<std::string> fields;
  std::int64_t num_fields = 0;                 ///< number of fields in the file, stored or not
  TableFault fault = TableFault::kNone;        ///< if not kNone, fields are missing or wrong
  std::int64_t longest = 0;                    ///< size in bytes of the longest field in the file
  std::int64_t offset = 0;                     ///< offset in bytes of the row in the file
  std::int64_t first_line = 0, last_line = 0;  ///< numbers of the row's first and last line, counted from 1
};

/// Reads a table row by row. Lines end with \n or \r\n; empty lines are not rows. After a row with text after a closing
/// quote, or with a quote that is never closed, reading resumes at the row's second line, since the lines within its
/// quotes may be rows of their own. No line of any file is read more than three times: between a quote and the one that
/// closes it all quotes are doubled, and a field that begins with a doubled quote ends there. The file is read in
/// blocks, so a file of any size takes little memory.
class TableReader {
 public:
  static constexpr std::int64_t kMaxFields = 1000;

  /// Reads from the beginning, in the format that table_format() gives. Throws Error if the file cannot be read.
  explicit TableReader(const std::string& path);
  /// Reads from the row that begins at the byte `offset` on. `line` is the number of its line, counted from 1. Throws
  /// Error if the file cannot be read.
  TableReader(const std::string& path, const TableFormat& format, std::int64_t offset = 0, std::int64_t line = 1);

  /// Reads the next row to `row`, whose memory it reuses. Returns false at the end of the file. Throws Error if the
  /// file cannot be read.
  bool next(TableRow& row);
  /// Returns the offset in bytes of the next line in the file. If that is not empty, the next row begins there.
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
  std::size_t at_ = 0;  ///< index in block_ of the next byte
  std::int64_t line_ = 1;
  std::int64_t length_ = 0;       ///< number of bytes so far of the field that is being read
  std::int64_t second_line_ = 0;  ///< offset in the file of the row's second line; 0: the row has one line so far
};

}  // namespace convoy
