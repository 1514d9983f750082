/// Character by character, from blocks of the file.
#include "data/text/table_reader.h"

#include <algorithm>

#include "convoy/base/text.h"
#include "convoy/io/atomic_file.h"

#include "data/text/check_text.h"

namespace convoy {

namespace {

constexpr std::int64_t kBlockBytes = std::int64_t{16} << 10;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

TableReader::TableReader(const std::string& path, std::int64_t offset)
    : path_(path),
      file_(io::open_for_reading(path)),
      size_(static_cast<std::int64_t>(io::file_size(file_, path))),
      separator_(lower_case(path).ends_with(".tsv") ? '\t' : ','),
      has_quotes_(separator_ == ','),
      block_offset_(offset) {
  if (offset > 0) return;
  for (const char expected : kByteOrderMark) {
    if (peek() != static_cast<unsigned char>(expected)) break;
    take();
  }
}

// The next byte, or kEnd.
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

// From after the first quote to after the last.
void TableReader::read_quoted(TableRow& row, std::string* field) {
  for (int c = peek();; c = peek()) {
    if (c == kEnd) {
      row.ends_quoted = true;
      return;
    }
    take();
    if (c == '"') {
      if (peek() != '"') return;
      take();
    }
    line_ += c == '\n' ? 1 : 0;
    if (field != nullptr && length_ < kMaxTextBytes) field->push_back(static_cast<char>(c));
    ++length_;
  }
}

// Up to the separator or the line's end. What stands after closing quotes belongs to the field.
void TableReader::read_field(TableRow& row) {
  std::string* field = nullptr;
  if (row.num_fields < kMaxFields) {
    if (std::ssize(row.fields) <= row.num_fields) row.fields.emplace_back();
    field = &row.fields[static_cast<std::size_t>(row.num_fields)];
    field->clear();
  }
  length_ = 0;
  if (has_quotes_ && peek() == '"') {
    take();
    read_quoted(row, field);
  }
  for (int c = peek(); c != kEnd && c != separator_ && c != '\n'; c = peek()) {
    take();
    if (c == '\r' && (peek() == '\n' || peek() == kEnd)) break;
    if (field != nullptr && length_ < kMaxTextBytes) field->push_back(static_cast<char>(c));
    ++length_;
  }
  row.longest = std::max(row.longest, length_);
  ++row.num_fields;
}

bool TableReader::next(TableRow& row) {
  for (int c = peek(); c == '\n' || c == '\r'; c = peek()) {
    line_ += c == '\n' ? 1 : 0;
    take();
  }
  if (peek() == kEnd) return false;
  row.num_fields = row.longest = 0;
  row.ends_quoted = false;
  row.offset = offset();
  row.line = line_;
  for (read_field(row); peek() == separator_; read_field(row)) take();
  if (peek() == '\n') {
    take();
    ++line_;
  }
  row.fields.resize(static_cast<std::size_t>(std::min(row.num_fields, kMaxFields)));
  return true;
}

bool is_table(const std::string& path) {
  const std::string name = lower_case(path);
  return name.ends_with(".csv") || name.ends_with(".tsv");
}

}  // namespace convoy
