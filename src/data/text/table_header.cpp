/// Recognizes tables in another format than their names say, as most tables are that cannot be read: their first rows
/// tell.
#include "data/text/table_header.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/foreign_kind.h"

#include "data/text/check_text.h"

namespace convoy {

namespace {

struct Separator {
  char letter;
  const char* name;    ///< name for many of them
  const char* pandas;  ///< the separator as Python writes it
};
constexpr Separator kSeparators[] = {
    {',', "commas", ","}, {'\t', "tabs", "\\t"}, {';', "semicolons", ";"}, {'|', "vertical bars", "|"}};

std::string quoted(const std::string& name) {
  return fmt::format("'{}'", excerpt(name));
}

std::int64_t position_of(const std::string& name, const TableRow& header) {
  const auto found = std::ranges::find(header.fields, name);
  return found == header.fields.end() ? -1 : found - header.fields.begin();
}

// --- Files that are something else -----------------------------------------------------------------------------------

// Recognizes other encodings by the first bytes, before anything is taken for a field.
void check_encoding(const std::string& path) {
  std::array<char, 4096> bytes = {};
  const FileDescriptor file = io::open_for_reading(path);
  const auto size = std::min<std::uint64_t>(bytes.size(), io::file_size(file, path));
  io::read_at(file, 0, std::as_writable_bytes(std::span(bytes).first(size)), path);
  const std::string_view first(bytes.data(), size);
  if (const auto kind = io::find_foreign_kind(std::as_bytes(std::span(first))))
    refuse("'{}' is {}. {}", path, kind->name, kind->remedy);
  const bool has_mark = first.starts_with("\xff\xfe") || first.starts_with("\xfe\xff");
  const bool is_wide = size >= 4 && std::ranges::count(first, '\0') >= static_cast<std::ptrdiff_t>(size / 4);
  if (has_mark || is_wide)
    refuse("'{}' is UTF-16. Convert it to UTF-8, for example: iconv -f UTF-16{} -t UTF-8 FILE > NEW_FILE", path,
           has_mark           ? ""
           : first[0] == '\0' ? "BE"
                              : "LE");
}

// Refuses the table if its first row names the texts when it is divided at other separators.
void check_separators(const std::string& path, const TableColumns& columns, const TableRow& header) {
  const TableFormat own = table_format(path);
  for (const Separator& other : kSeparators) {
    if (other.letter == own.separator) continue;
    TableReader reader(path, {.separator = other.letter});
    TableRow row;
    reader.next(row);
    const bool names_texts = position_of(columns.text, row) >= 0;
    if (!names_texts && (header.num_fields > 1 || row.num_fields < 2)) continue;
    const std::string remedy = other.letter == ','    ? "Name it .csv"
                               : other.letter == '\t' ? "Name it .tsv or, if fields are in quotes, write it with commas"
                                                      : "Write it with commas";
    refuse("'{}' separates its fields by {}: its first row is '{}'. {} (pandas: read_csv(FILE, sep='{}'){}", path,
           other.name, excerpt(fmt::format("{}", fmt::join(header.fields, std::string_view(&own.separator, 1)))),
           remedy, other.pandas, other.letter == ',' ? " reads it)" : ".to_csv('NEW.csv', index=False))");
  }
}

void check_lines(const std::string& path, const TableRow& header) {
  if (header.fault == TableFault::kCarriageReturn)
    refuse(
        "'{}' ends its lines in carriage returns alone, as old Macs did: its first line is '{}'. Convert it, for "
        "example: tr '\\r' '\\n' < FILE > NEW_FILE",
        path, excerpt(fmt::format("{}", fmt::join(header.fields, ","))));
  for (const std::string& name : header.fields)
    if (find_not_utf8(name) >= 0)
      refuse("'{}': the name {} in its first row is not UTF-8. {}", path, quoted(name), kConvertToUtf8);
}

// --- Columns ---------------------------------------------------------------------------------------------------------

[[noreturn]] void refuse_header(const std::string& path, const char* key, const std::string& name,
                                const TableRow& header, const char* hint = "") {
  const std::string near = nearest(name, header.fields);
  refuse(
      "'{}' has no column '{}'. Its first row names: {}. Give one of these names as {}{}; if the first row is not a "
      "row of names, insert such a row above it{}",
      path, name, excerpt(fmt::format("{}", fmt::join(header.fields, ", "))), key,
      near.empty() ? "" : fmt::format(", for example {}", quoted(near)), hint);
}

void check_names(const std::string& path, const TableHeader& header, const TableColumns& columns) {
  for (const std::string& name : {columns.text, columns.label})
    if (std::ranges::count(header.names, name) > 1)
      refuse("'{}' has several columns named '{}'. Give each of them its own name", path, name);
  if (columns.needs_label && header.label == header.text)
    refuse("import.text_column and import.label_column are both '{}'. Give two different columns", columns.text);
}

}  // namespace

TableHeader read_header(TableReader& reader, const std::string& path, const TableColumns& columns) {
  check_encoding(path);
  TableRow row;
  if (!reader.next(row)) refuse("'{}' is empty. Its first row must name the columns", path);
  check_lines(path, row);
  TableHeader header{.num_fields = row.num_fields,
                     .text = position_of(columns.text, row),
                     .label = position_of(columns.label, row),
                     .names = row.fields};
  if (row.fault != TableFault::kNone) {
    try {
      check_row(row, header, false);
    } catch (const Error& error) {
      refuse("'{}': the row that names the columns cannot be used: {}", path, error.what());
    }
  }
  if (header.text < 0) {
    check_separators(path, columns, row);
    refuse_header(path, "import.text_column", columns.text, row,
                  columns.needs_label ? ". If it is a table of numbers, give import.format = table" : "");
  }
  if (header.label < 0 && columns.needs_label) refuse_header(path, "import.label_column", columns.label, row);
  check_names(path, header, columns);
  return header;
}

// --- Rows ------------------------------------------------------------------------------------------------------------

void check_row(const TableRow& row, const TableHeader& header, bool needs_label) {
  const bool is_long = row.last_line > row.first_line;
  const std::string lines =
      is_long ? fmt::format("lines {} to {}", row.first_line, row.last_line) : fmt::format("line {}", row.first_line);
  const std::string resumed = is_long ? fmt::format(". Reading resumed on line {}", row.first_line + 1) : "";
  switch (row.fault) {
    case TableFault::kNone:
      break;
    case TableFault::kTextAfterQuote:
      fail("text follows the closing quote of a field ({}): a quote inside a quoted field must be written twice{}",
           lines, resumed);
    case TableFault::kOpenQuote:
      fail("a quoted field is not closed before the end of the file ({}){}", lines, resumed);
    case TableFault::kCarriageReturn:
      fail("it has a carriage return outside quotes ({}): lines end in \\n or \\r\\n", lines);
  }
  if (row.num_fields != header.num_fields)
    fail("it has {}, but the first row has {}{}", counted(row.num_fields, "field"), header.num_fields,
         is_long ? fmt::format(" ({})", lines) : "");
  check_text_size(row.longest);
  if (header.label >= 0 && needs_label) check_class_name(row.fields[static_cast<std::size_t>(header.label)]);
}

}  // namespace convoy
