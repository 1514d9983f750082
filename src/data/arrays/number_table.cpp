/// Reads the header of a table of numbers, and checks its rows.
#include "data/arrays/number_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"

namespace convoy {

namespace {

FieldReader open_table(const std::string& path) try { return {path, table_format(path)}; } catch (const Error& error) {
  refuse("{}", error.what());
}

// Whether the fields are 0, 1, 2 and so on, which pandas writes as names of columns without names. Fewer than three may
// be values.
bool count_from_zero(std::span<const std::string_view> fields) {
  constexpr std::size_t kFewest = 3;
  std::size_t next = 0;
  return fields.size() >= kFewest &&
         std::ranges::all_of(fields, [&](std::string_view field) { return field == std::to_string(next++); });
}

bool are_numbers(std::span<const std::string_view> fields) {
  double number = 0;
  return std::ranges::all_of(fields, [&](std::string_view field) { return read_number(field, number); });
}

}  // namespace

NumberTable::NumberTable(const std::string& path) : reader_(open_table(path)) {
  try {
    read_header();
  } catch (const Error& error) {
    refuse("{}", error.what());
  }
}

void NumberTable::read_header() {
  const std::string& path = reader_.path();
  if (!reader_.next()) fail("'{}' is empty: it has no row", path);
  const bool is_counted = count_from_zero(reader_.fields()), has_header = is_counted || !are_numbers(reader_.fields());
  for (const std::string_view field : reader_.fields())
    names_.push_back(has_header ? std::string(field) : fmt::format("column{}", names_.size() + 1));
  if (is_counted)
    note_ = fmt::format("'{}': its first row, 0 to {}, was taken as the names of the columns", path, names_.back());
  else if (!has_header)
    note_ = fmt::format("'{}': its first row has numbers, so it is a sample; the columns are called column1 to {}",
                        path, names_.back());
  check_names();
  if (has_header && !reader_.next()) fail("'{}' has names of columns, but no row of values", path);
  reader_.seek(reader_.offset(), reader_.line());
}

void NumberTable::check_names() const {
  const std::string& path = reader_.path();
  if (names_.size() == 1 && names_.front().find_first_of(";\t|,") != std::string::npos)
    fail(
        "'{}' seems to separate its columns by another character than its name says: .csv has commas, .tsv has tabs. "
        "Its first row is '{}'. Rename it, or write it anew (pandas: read_csv(FILE, sep=...), then to_csv(NEW_FILE, "
        "index=False))",
        path, excerpt(names_.front()));
  std::vector<std::string> sorted = names_;
  std::ranges::sort(sorted);
  if (sorted.front().empty()) fail("'{}' has a column without a name in its first row", path);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    fail("'{}' has two columns named '{}'", path, excerpt(*twice));
}

std::size_t NumberTable::column(std::string_view name) const {
  if (const auto found = std::ranges::find(names_, name); found != names_.end())
    return static_cast<std::size_t>(found - names_.begin());
  constexpr std::size_t kNumShown = 10;
  const std::string near = nearest(name, names_);
  refuse("'{}' has no column '{}'. {}", reader_.path(), excerpt(name),
         near.empty() ? fmt::format("It has: {}", excerpt(first_few(names_, kNumShown)))
                      : fmt::format("Nearest: {}", excerpt(near)));
}

bool NumberTable::next() {
  if (!reader_.next()) return false;
  if (reader_.num_fields() != names_.size())
    fail("'{}', line {}: the row has {}, but there are {}", reader_.path(), line(),
         counted(static_cast<std::int64_t>(reader_.num_fields()), "field"), counted(std::ssize(names_), "column"));
  return true;
}

double NumberTable::number(std::size_t column) const {
  double number = 0;
  if (!read_number(text(column), number))
    fail("'{}', line {}, column '{}': '{}' is not a number", reader_.path(), line(), excerpt(names_[column]),
         excerpt(text(column)));
  return number;
}

}  // namespace convoy
