/// Reads the subset of Python in which NumPy writes its headers, and nothing else of it.
#include "io/arrays/npy_header.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

#include "io/arrays/array_form.h"

namespace convoy::io {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxNpyHeaderBytes = 65536;  // NumPy itself reads 10,000 characters
constexpr std::int64_t kMaxCharacters = 4096;

[[noreturn]] void fail_header(const std::string& expected, std::string_view rest) {
  fail("its header is damaged: {} is expected at '{}'", expected, excerpt(rest.substr(0, 20)));
}

/// A position in a dictionary.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }

  /// Takes the word if it comes next, after blanks.
  bool take(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void expect(const char* word) {
    if (!take(word)) fail_header(fmt::format("'{}'", word), rest_);
  }

  /// Takes a text in quotes. NumPy escapes nothing in these texts.
  std::string_view text() {
    skip_blanks();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) fail_header("a text in quotes", rest_);
    const std::string_view content = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return content;
  }

  /// Takes a whole number that is not negative. Python 2 wrote an L after it.
  std::int64_t number() {
    skip_blanks();
    const std::size_t length = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    const auto value = parse_number<std::int64_t>(rest_.substr(0, length));
    if (!value) fail_header("a whole number", rest_);
    rest_.remove_prefix(length);
    take("L");
    return *value;
  }

 private:
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }

  std::string_view rest_;
};

std::vector<std::int64_t> take_shape(Cursor& cursor) {
  std::vector<std::int64_t> dims;
  cursor.expect("(");
  while (!cursor.take(")")) {
    dims.push_back(cursor.number());
    if (dims.size() > 32) fail("its header is damaged: it has more extents than NumPy allows");
    if (cursor.take(",")) continue;
    if (dims.size() == 1) fail_header("','", cursor.rest());  // (5) is a number, not a list
    cursor.expect(")");
    break;
  }
  return dims;
}

bool take_flag(Cursor& cursor) {
  if (cursor.take("True")) return true;
  cursor.expect("False");
  return false;
}

// --- Types -----------------------------------------------------------------------------------------------------------

struct NumberType {
  std::string_view code;
  ElementType type;
};
constexpr NumberType kNumberTypes[] = {
    {"i1", ElementType::kInt8},    {"i2", ElementType::kInt16},   {"i4", ElementType::kInt32},
    {"i8", ElementType::kInt64},   {"u1", ElementType::kUint8},   {"u2", ElementType::kUint16},
    {"u4", ElementType::kUint32},  {"u8", ElementType::kUint64},  {"f2", ElementType::kFloat16},
    {"f4", ElementType::kFloat32}, {"f8", ElementType::kFloat64}, {"b1", ElementType::kUint8},
};

// Returns what an array of another type needs to be readable.
const char* remedy_for(char kind) {
  switch (kind) {
    case 'O':
      return "holds Python objects (pickles), which are never opened. Convert numbers with x.astype('float32'), texts "
             "with x.astype(str), and save it again";
    case 'c':
      return "holds complex numbers. Save real and imaginary parts as channels";
    case 'M':
    case 'm':
      return "holds dates or durations. Convert them with x.astype('int64') or to a number of your choice";
    case 'V':
      return "holds records. Save each field as an array of its own";
    case 'f':
      return "holds numbers of extended precision. Convert it with x.astype('float64')";
    default:
      return "holds values of a type that is not known";
  }
}

void set_text_type(std::string_view size, bool is_unicode, NpyHeader& header) {
  const auto length = parse_number<std::int64_t>(size);
  if (!length || *length < 1 || *length > kMaxCharacters)
    fail("it has texts of '{}' characters. Allowed: 1 to {}", excerpt(size), kMaxCharacters);
  header.is_unicode = is_unicode;
  header.unit_bytes = is_unicode ? 4 : 1;
  header.value_bytes = *length * header.unit_bytes;
}

void set_type(std::string_view descr, NpyHeader& header) {
  std::string_view code = descr;
  if (!code.empty() && std::string_view("<>=|").find(code.front()) != std::string_view::npos) {
    header.is_big_endian = code.front() == '>';
    code.remove_prefix(1);
  }
  if (code.starts_with('U') || code.starts_with('S')) return set_text_type(code.substr(1), code.front() == 'U', header);
  const auto* const known = std::ranges::find(kNumberTypes, code, &NumberType::code);
  if (known == std::end(kNumberTypes))
    fail("it {} (type '{}')", remedy_for(code.empty() ? '\0' : code.front()), excerpt(descr));
  header.form.type = known->type;
  header.value_bytes = header.unit_bytes = size_of(known->type);
}

}  // namespace

NpyPrefix read_npy_prefix(std::span<const std::byte> begin) {
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(begin[i]); };
  if (begin.size() < kMagic.size() || std::memcmp(begin.data(), kMagic.data(), kMagic.size()) != 0)
    fail("it is no array of NumPy (.npy): its first bytes are other ones");
  if (begin.size() < kNpyPrefixBytes) fail("it is truncated: it ends within its header");
  const std::size_t major = byte(6), minor = byte(7);
  if (major < 1 || major > 3 || minor != 0)
    fail("it has version {}.{} of NumPy's format; versions 1.0, 2.0 and 3.0 can be read", major, minor);
  const NpyPrefix prefix =
      major == 1 ? NpyPrefix{.offset = 10, .length = byte(8) | byte(9) << 8}
                 : NpyPrefix{.offset = 12, .length = byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24};
  if (prefix.length > kMaxNpyHeaderBytes)
    fail("its header claims {} bytes. Allowed: {}", prefix.length, kMaxNpyHeaderBytes);
  return prefix;
}

NpyHeader parse_npy_header(std::string_view dictionary) {
  NpyHeader header;
  std::string_view descr;
  bool has_type = false, has_order = false, has_shape = false;
  Cursor cursor(dictionary);
  cursor.expect("{");
  while (!cursor.take("}")) {
    const std::string_view key = cursor.text();
    cursor.expect(":");
    if (key == "descr" && !has_type) {
      if (cursor.take("[")) fail("it {}", remedy_for('V'));
      descr = cursor.text();
      has_type = true;
    } else if (key == "fortran_order" && !has_order) {
      header.is_fortran_order = take_flag(cursor);
      has_order = true;
    } else if (key == "shape" && !has_shape) {
      header.form.dims = take_shape(cursor);
      has_shape = true;
    } else {
      fail("its header is damaged: '{}' is twice in it, or not known", excerpt(key));
    }
    if (cursor.take(",")) continue;
    cursor.expect("}");
    break;
  }
  cursor.take("");  // skips blanks
  if (!cursor.rest().empty()) fail_header("its end", cursor.rest());
  if (!has_type || !has_order || !has_shape) fail("its header is damaged: descr, fortran_order or shape is missing");
  set_type(descr, header);
  check_dims(header.form.dims, header.value_bytes);
  return header;
}

}  // namespace convoy::io
