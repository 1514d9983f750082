/// Numbers of an .npy or of a text, which numpy.savetxt writes with fractions.
#include "data/arrays/row_list.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/io/array_reader.h"

#include "data/arrays/array_files.h"
#include "data/arrays/element_values.h"
#include "data/arrays/field_reader.h"

namespace convoy {

namespace {

std::vector<double> numbers_of_npy(const std::string& path) {
  const auto reader = io::open_npy(path);
  const io::ArrayForm& form = reader->form();
  if (!form.type || form.dims.size() != 1) fail("it holds {}, and not a list of numbers", to_string(form));
  std::vector<std::byte> values(static_cast<std::size_t>(form.num_samples() * size_of(*form.type)));
  reader->read(0, form.num_samples(), values);
  std::vector<double> numbers(static_cast<std::size_t>(form.num_samples()));
  convert_to_doubles(*form.type, values, numbers);
  return numbers;
}

std::vector<double> numbers_of_text(const std::string& path) {
  std::vector<double> numbers;
  FieldReader reader(path, {.separator = '\n', .has_quotes = false});
  while (reader.next()) {
    const std::string_view line = reader.fields().front();
    if (!read_number(line, numbers.emplace_back()) || std::isnan(numbers.back()))
      fail("line {}: '{}' is not a number", reader.line(), excerpt(line));
  }
  return numbers;
}

}  // namespace

std::vector<std::int64_t> read_row_list(const std::string& path, const std::string& key, std::int64_t num_rows) try {
  const bool is_npy = find_array_file_kind(path) == ArrayFileKind::kNpy;
  std::vector<std::int64_t> rows;
  for (const double number : is_npy ? numbers_of_npy(path) : numbers_of_text(path)) {
    if (std::trunc(number) != number || number < 0 || number >= static_cast<double>(num_rows))
      fail("{} is no row. Allowed: 0 to {}", number, num_rows - 1);
    rows.push_back(static_cast<std::int64_t>(number));
  }
  if (rows.empty()) fail("it has no numbers");
  std::ranges::sort(rows);
  if (const auto twice = std::ranges::adjacent_find(rows); twice != rows.end())
    fail("row {} is there twice. A list has the number of each row, from 0", *twice);
  return rows;
} catch (const Error& error) {
  refuse("{} = {}: {}", key, path, error.what());
}

}  // namespace convoy
