/// Finds the ends of lines and fields in blocks of the file.
#include "data/arrays/field_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/io/atomic_file.h"

namespace convoy {

namespace {

constexpr std::size_t kFileBlockBytes = std::size_t{1} << 20;

const char* find(std::string_view text, char c) {
  return text.empty() ? nullptr : static_cast<const char*>(std::memchr(text.data(), c, text.size()));
}

// Counts in bytes, of which the compiler adds many at once.
std::size_t count(std::string_view text, char c) {
  constexpr std::size_t kBlock = 255;  // the largest number of a byte
  std::size_t total = 0;
  for (; !text.empty(); text.remove_prefix(std::min(kBlock, text.size()))) {
    std::uint8_t in_block = 0;
    for (const char other : text.substr(0, kBlock)) in_block = static_cast<std::uint8_t>(in_block + (other == c));
    total += in_block;
  }
  return total;
}

bool is_missing(std::string_view field) {
  constexpr std::array<std::string_view, 5> kWords = {"na", "n/a", "null", "none", "?"};
  return field.empty() || (field.size() <= 4 && std::ranges::find(kWords, lower_case(field)) != kWords.end());
}

// Sets the highest bit of each byte of the word that is the separator, and no other bit.
std::uint64_t separators_in(const char* word, std::uint64_t separator) {
  constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, word, sizeof bytes);
  bytes ^= separator;  // 0 where a byte is the separator
  return ~(((bytes & kLow) + kLow) | bytes | kLow);
}

// Reads a number of up to 15 digits without an exponent, as most are. Its digits and the power of ten are exact as
// doubles, so their quotient is the double next to the number. Returns false for all other fields.
bool read_short_number(std::string_view field, double& number) {
  constexpr std::size_t kMaxDigits = 15;
  constexpr std::array<double, kMaxDigits + 1> kPowers = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                          1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool is_negative = field.starts_with('-');
  if (is_negative) field.remove_prefix(1);
  if (field.size() > kMaxDigits + 1) return false;
  std::int64_t digits = 0;
  std::size_t num_digits = 0, num_before_point = kMaxDigits + 1;
  for (const char c : field) {
    const auto digit = static_cast<unsigned>(c) - static_cast<unsigned>('0');
    if (digit <= 9) {
      digits = digits * 10 + static_cast<std::int64_t>(digit);
      ++num_digits;
    } else if (c == '.' && num_before_point > kMaxDigits) {
      num_before_point = num_digits;
    } else {
      return false;
    }
  }
  if (num_digits == 0 || num_digits > kMaxDigits) return false;
  const std::size_t num_after_point = num_digits - std::min(num_digits, num_before_point);
  const double size = static_cast<double>(digits) / kPowers[num_after_point];
  number = is_negative ? -size : size;
  return true;
}

}  // namespace

FieldReader::FieldReader(const std::string& path, const TableFormat& format)
    : path_(path),
      file_(io::open_for_reading(path)),
      size_bytes_(static_cast<std::int64_t>(io::file_size(file_, path))),
      format_(format) {
  fill();
  const std::string_view begin(block_.data(), end_);
  if (begin.starts_with("\xff\xfe") || begin.starts_with("\xfe\xff"))
    fail("'{}' is in UTF-16. Save it as CSV in UTF-8", path);
  if (begin.starts_with(kByteOrderMark)) begin_ = kByteOrderMark.size();
  if (find(begin, '\n') == nullptr && find(begin.substr(0, begin.size() - (begin.ends_with('\r') ? 1 : 0)), '\r'))
    fail("'{}' has lines that end with a carriage return alone. Save it as CSV with usual line ends", path);
}

// Reads a block of the file after the bytes that are left. Returns false at the end of the file.
bool FieldReader::fill() {
  const std::int64_t file_offset = block_offset_ + static_cast<std::int64_t>(end_);
  const auto count = static_cast<std::size_t>(
      std::clamp<std::int64_t>(size_bytes_ - file_offset, 0, static_cast<std::int64_t>(kFileBlockBytes)));
  if (count == 0) return false;
  if (begin_ > 0)
    std::copy(block_.begin() + static_cast<std::ptrdiff_t>(begin_), block_.begin() + static_cast<std::ptrdiff_t>(end_),
              block_.begin());
  block_offset_ += static_cast<std::int64_t>(begin_);
  end_ -= begin_;
  begin_ = 0;
  if (block_.size() < end_ + count) block_.resize(end_ + count);
  io::read_at(file_, static_cast<std::uint64_t>(file_offset),
              std::as_writable_bytes(std::span(block_).subspan(end_, count)), path_);
  end_ += count;
  return true;
}

// Takes the next row with its line end: up to a \n that is not within quotes. Empty at the end of the file.
std::string_view FieldReader::take_row() {
  std::size_t searched = 0;
  bool is_open = false;  // whether a quote is open where the search has come to
  for (;;) {
    const std::string_view rest(block_.data() + begin_ + searched, end_ - begin_ - searched);
    const char* const line_end = find(rest, '\n');
    const std::size_t length = line_end != nullptr ? static_cast<std::size_t>(line_end - rest.data()) + 1 : rest.size();
    if (format_.has_quotes) is_open ^= count(rest.substr(0, length), '"') % 2 != 0;
    searched += length;
    if (line_end != nullptr) ++next_line_;
    if (line_end != nullptr && !is_open) break;
    if (static_cast<std::int64_t>(searched) > kMaxRowBytes)
      fail_row(is_open ? "a quote is not closed within 16 MiB" : "the row has more than 16 MiB");
    if (line_end == nullptr && !fill()) {
      if (is_open) fail_row("a quote is never closed");
      break;
    }
  }
  const std::string_view row(block_.data() + begin_, searched);
  begin_ += searched;
  return row;
}

bool FieldReader::next() {
  for (;;) {
    row_offset_ = block_offset_ + static_cast<std::int64_t>(begin_);
    row_line_ = next_line_;
    std::string_view row = take_row();
    if (row.empty()) return false;
    if (row.ends_with('\n')) row.remove_suffix(1);
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.empty()) continue;
    fields_.clear();
    row_ = row;
    num_fields_ = count(row, format_.separator) + 1;
    if (format_.has_quotes && find(row, '"') != nullptr) {
      split_quoted(row);
      num_fields_ = fields_.size();
    }
    if (num_fields_ > kMaxFields) fail_row(fmt::format("the row has more than {} fields", kMaxFields));
    return true;
  }
}

// Finds the separators of eight bytes at once: this is where reading a table of numbers spends its time.
void FieldReader::split() const {
  fields_.resize(num_fields_);
  std::string_view* field = fields_.data();
  const char *begin = row_.data(), *word = begin, *const end = begin + row_.size();
  const auto take_until = [&](const char* separator) {
    *field++ = {begin, separator};
    begin = separator + 1;
  };
  static_assert(std::endian::native == std::endian::little, "the first byte of a word is its lowest");
  for (const std::uint64_t eight = 0x0101010101010101 * static_cast<unsigned char>(format_.separator); end - word >= 8;
       word += 8)
    for (std::uint64_t found = separators_in(word, eight); found != 0; found &= found - 1)
      take_until(word + std::countr_zero(found) / 8);
  for (; word != end; ++word)
    if (*word == format_.separator) take_until(word);
  *field = {begin, end};
}

void FieldReader::split_quoted(std::string_view row) {
  unquoted_.clear();
  unquoted_.reserve(row.size());  // views of it stay valid
  for (std::size_t at = 0;;) {
    if (at < row.size() && row[at] == '"') {
      at = take_quoted(row, at);
    } else {
      const std::size_t end = std::min(row.find(format_.separator, at), row.size());
      fields_.push_back(row.substr(at, end - at));
      at = end;
    }
    if (at == row.size() || fields_.size() > kMaxFields) return;
    if (row[at] != format_.separator) fail_row("text follows a closing quote");
    ++at;
  }
}

// Adds the field whose opening quote is at this position. Returns the position after its closing quote.
std::size_t FieldReader::take_quoted(std::string_view row, std::size_t at) {
  const std::size_t begin = unquoted_.size();
  for (++at;;) {
    const std::size_t quote = row.find('"', at);
    if (quote == std::string_view::npos) fail_row("a quote is never closed");
    unquoted_.append(row.substr(at, quote - at));
    at = quote + 1;
    if (at == row.size() || row[at] != '"') break;
    unquoted_.push_back('"');
    ++at;
  }
  fields_.push_back(std::string_view(unquoted_).substr(begin));
  return at;
}

void FieldReader::seek(std::int64_t offset, std::int64_t line) {
  const std::int64_t block_end = block_offset_ + static_cast<std::int64_t>(end_);
  if (offset >= block_offset_ && offset <= block_end) {
    begin_ = static_cast<std::size_t>(offset - block_offset_);
  } else {
    block_offset_ = offset;
    begin_ = end_ = 0;
  }
  next_line_ = line;
}

void FieldReader::fail_row(const std::string& what) const {
  fail("'{}', line {}: {}", path_, line(), what);
}

bool read_number(std::string_view field, double& number) {
  if (read_short_number(field, number)) return true;
  field = without_blanks(field);
  const std::string_view digits = field.substr(field.size() > 1 && field.front() == '+' && field[1] != '-' ? 1 : 0);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_whole = end == digits.data() + digits.size();
  if (error == std::errc() && is_whole) return true;
  if (error == std::errc::result_out_of_range && is_whole) {
    number = std::strtod(std::string(digits).c_str(), nullptr);  // an infinity or 0
    return true;
  }
  if (!is_missing(field)) return false;
  number = std::numeric_limits<double>::quiet_NaN();
  return true;
}

}  // namespace convoy
