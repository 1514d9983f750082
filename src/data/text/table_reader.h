/// Rows of tables in files: CSV (RFC 4180) and TSV.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/file_descriptor.h"

namespace convoy {

/// A row's fields. Those past kMaxFields are counted and not kept, and so are a field's bytes past kMaxTextBytes.
struct TableRow {
  std::vector<std::string> fields;
  std::int64_t num_fields = 0;
  bool ends_quoted = false;  ///< the file ends within quotes
  std::int64_t longest = 0;  ///< bytes of the longest field, kept or not
  std::int64_t offset = 0;   ///< of the row in its file
  std::int64_t line = 0;     ///< on which it begins, from where the reading began: 1
};

/// .csv: fields between commas; one in quotes may hold commas, line ends and, doubled, quotes. .tsv: fields between
/// tabs, and quotes are letters like others. Lines end in \n or \r\n; empty ones are no rows. Reads ahead by blocks, so
/// that a file of any size takes little memory.
class TableReader {
 public:
  static constexpr std::int64_t kMaxFields = 1000;

  /// From `offset` on, where a row begins. Throws Error, as next() does where the file cannot be read.
  explicit TableReader(const std::string& path, std::int64_t offset = 0);

  /// False at the file's end. `row` keeps its memory.
  bool next(TableRow& row);
  /// Where it reads on.
  std::int64_t offset() const { return block_offset_ + static_cast<std::int64_t>(at_); }

 private:
  static constexpr int kEnd = -1;

  int peek();
  void take() { ++at_; }
  void read_field(TableRow& row);
  void read_quoted(TableRow& row, std::string* field);

  std::string path_;
  FileDescriptor file_;
  std::int64_t size_ = 0;
  char separator_;
  bool has_quotes_;
  std::string block_;
  std::int64_t block_offset_ = 0;
  std::size_t at_ = 0;  ///< in the block
  std::int64_t line_ = 1;
  std::int64_t length_ = 0;  ///< of the field that is read
};

/// Of its name: .csv or .tsv, in any case.
bool is_table(const std::string& path);

}  // namespace convoy
