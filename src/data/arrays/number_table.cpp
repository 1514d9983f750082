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
  has_header_ = !are_numbers(reader_.fields());
  for (const std::string_view field : reader_.fields())
    names_.push_back(has_header_ ? std::string(field) : fmt::format("column{}", names_.size() + 1));
  check_names();
  if (has_header_ && !reader_.next()) fail("'{}' has names of columns, but no row of values", path);
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

void NumberTable::read(std::span<const std::size_t> columns, std::span<float> values) const {
  for (std::size_t i = 0; i < columns.size(); ++i) values[i] = static_cast<float>(number(columns[i]));
}

}  // namespace convoy
