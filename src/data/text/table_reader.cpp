/// Reads character by character, from blocks of the file.
#include "data/text/table_reader.h"

#include <algorithm>

#include "convoy/base/text.h"
#include "convoy/io/atomic_file.h"

#include "data/text/check_text.h"

namespace convoy {

namespace {

constexpr std::int64_t kBlockBytes = std::int64_t{16} << 10;

}  // namespace

TableReader::TableReader(const std::string& path) : TableReader(path, table_format(path)) {}

TableReader::TableReader(const std::string& path, const TableFormat& format, std::int64_t offset, std::int64_t line)
    : path_(path),
      file_(io::open_for_reading(path)),
      size_(static_cast<std::int64_t>(io::file_size(file_, path))),
      format_(format),
      block_offset_(offset),
      line_(line) {
  if (offset > 0) return;
  for (const char expected : kByteOrderMark) {
    if (peek() != static_cast<unsigned char>(expected)) break;
    take();
  }
}

// Returns the next byte, or kEnd.
int TableReader::peek() {
  if (at_ == block_.size()) {
    block_offset_ += std::ssize(block_);
    block_.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(size_ - block_offset_, 0, kBlockBytes)));
    at_ = 0;
    if (block_.empty()) return kEnd;
    io::read_at(file_, static_cast<std::uint64_t>(block_offset_), std::as_writable_bytes(std::span(block_)), path_);
  }
  return static_cast<unsigned char>(block_[at_]);
}

void TableReader::seek(std::int64_t offset) {
  if (offset >= block_offset_ && offset <= block_offset_ + std::ssize(block_)) {
    at_ = static_cast<std::size_t>(offset - block_offset_);
    return;
  }
  block_.clear();
  block_offset_ = offset;
  at_ = 0;
}

void TableReader::add(std::string* field, int c) {
  if (field != nullptr && length_ < kMaxTextBytes) field->push_back(static_cast<char>(c));
  ++length_;
}

// Reads a field in quotes, from after the first quote to after the last.
void TableReader::read_quoted(TableRow& row, std::string* field) {
  bool ends_line = false;  // whether the byte before ends a line
  for (int c = peek();; c = peek()) {
    if (c == kEnd) {
      row.fault = TableFault::kOpenQuote;
      row.last_line = ends_line ? line_ - 1 : line_;
      return;
    }
    take();
    ends_line = c == '\n';
    if (c == '"') {
      if (peek() != '"') return;
      take();
    }
    add(field, c);
    if (c != '\n') continue;
    ++line_;
    if (second_line_ == 0) second_line_ = offset();
  }
}

// Reads a field without quotes up to the separator or the line's end, to which carriage returns before it belong.
void TableReader::read_plain(TableRow& row, std::string* field) {
  bool has_returns = false;
  for (int c = peek(); c != kEnd && c != format_.separator && c != '\n'; c = peek()) {
    take();
    if (c == '\r') {
      has_returns = true;
      continue;
    }
    if (has_returns) {
      row.fault = TableFault::kCarriageReturn;
      add(field, '\r');
      has_returns = false;
    }
    add(field, c);
  }
  if (has_returns && peek() == format_.separator) row.fault = TableFault::kCarriageReturn;
}

void TableReader::read_field(TableRow& row) {
  std::string* field = nullptr;
  if (row.num_fields < kMaxFields) {
    if (std::ssize(row.fields) <= row.num_fields) row.fields.emplace_back();
    field = &row.fields[static_cast<std::size_t>(row.num_fields)];
    field->clear();
  }
  length_ = 0;
  const bool is_quoted = format_.has_quotes && peek() == '"';
  if (is_quoted) {
    take();
    read_quoted(row, field);
    const std::int64_t length = length_;
    const bool ends_line = peek() == '\r';
    if (row.fault != TableFault::kOpenQuote) read_plain(row, nullptr);
    if (length_ > length && !ends_line) row.fault = TableFault::kTextAfterQuote;
  } else {
    read_plain(row, field);
  }
  row.longest = std::max(row.longest, length_);
  ++row.num_fields;
}

// Takes the line's end; or goes back, if the row's quotes have taken in lines that may be rows.
void TableReader::end_row(TableRow& row) {
  if (row.fault != TableFault::kOpenQuote) row.last_line = line_;
  const bool may_hold_rows = row.fault == TableFault::kTextAfterQuote || row.fault == TableFault::kOpenQuote;
  if (may_hold_rows && second_line_ > 0) {
    seek(second_line_);
    line_ = row.first_line + 1;
    return;
  }
  while (may_hold_rows && peek() != '\n' && peek() != kEnd) take();
  if (peek() == '\n') {
    take();
    ++line_;
  }
}

bool TableReader::next(TableRow& row) {
  for (int c = peek(); c == '\n' || c == '\r'; c = peek()) {
    line_ += c == '\n' ? 1 : 0;
    take();
  }
  if (peek() == kEnd) return false;
  row.num_fields = row.longest = second_line_ = 0;
  row.fault = TableFault::kNone;
  row.offset = offset();
  row.first_line = line_;
  for (read_field(row); peek() == format_.separator && row.fault != TableFault::kTextAfterQuote; read_field(row))
    take();
  end_row(row);
  row.fields.resize(static_cast<std::size_t>(std::min(row.num_fields, kMaxFields)));
  return true;
}

}  // namespace convoy
