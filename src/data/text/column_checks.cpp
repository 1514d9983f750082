/// Each check names the values that it found strange.
#include "data/text/column_checks.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/text.h"

#include "data/source_listing.h"

namespace convoy {

namespace {

constexpr std::int64_t kMaxUsualClasses = 10;  // always allowed, however few texts there are
constexpr std::int64_t kMaxWholeNumbers = 20;  // that many are taken for classes; more look like quantities

void check_number_of_classes(const std::string& path, const TableColumns& columns, const ColumnContent& content) {
  const std::int64_t count = std::ssize(content.class_names);
  const auto allowed = std::max(
      kMaxUsualClasses, static_cast<std::int64_t>(columns.max_class_fraction * static_cast<double>(content.num_texts)));
  if (count <= allowed) return;
  refuse(
      "'{}': the column '{}' has {} different classes in {} texts: {}. import.max_class_fraction = {} allows {}. If "
      "these are texts, numbers or ids, give another column as import.label_column; if they are classes, set "
      "import.max_class_fraction = 1",
      path, columns.label, count, content.num_texts, examples(content.class_names), columns.max_class_fraction,
      allowed);
}

// Warns of classes like "0.73": to a classifier 0.73 is as far from 0.72 as from 0.1. A few whole numbers are taken for
// names of classes.
std::string warn_of_numbers(const std::vector<std::string>& names) {
  const bool are_names = std::ssize(names) <= kMaxWholeNumbers && std::ranges::all_of(names, is_whole_number);
  if (are_names || !std::ranges::all_of(names, is_number)) return "";
  return fmt::format("are numbers: {}. Each is a class of its own, and their order is not learnt", examples(names));
}

std::vector<std::string_view> parts_of(std::string_view name, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find(separator, begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Warns of classes like "1|3" if there is a class "1", or like "3|4". "Paris, France" is not a list: a space follows
// its comma.
std::string warn_of_lists(const std::vector<std::string>& names) {
  for (const char separator : {'|', ';', ','}) {
    std::unordered_map<std::string_view, std::int64_t> uses;
    std::vector<std::string> lists;
    for (const std::string& name : names) {
      const std::vector<std::string_view> parts = parts_of(name, separator);
      const auto is_part = [](std::string_view part) { return !part.empty() && part.front() != ' '; };
      if (!std::ranges::all_of(parts, is_part)) continue;
      if (parts.size() > 1) lists.push_back(name);
      for (const std::string_view part : std::set(parts.begin(), parts.end())) ++uses[part];
    }
    const bool is_shared = std::ranges::any_of(lists, [&](const std::string& name) {
      return std::ranges::any_of(parts_of(name, separator), [&](std::string_view part) { return uses[part] > 1; });
    });
    if (is_shared)
      return fmt::format("seem to be several classes each: {}. Each such list is a class of its own", examples(lists));
  }
  return "";
}

}  // namespace

bool is_number(std::string_view text) {
  text = without_blanks(text);
  const bool begins_so =
      !text.empty() && std::string_view("+-.0123456789").find(text.front()) != std::string_view::npos;
  if (begins_so && text.front() == '+') text.remove_prefix(1);
  return begins_so && parse_number<double>(text).has_value();
}

bool is_whole_number(std::string_view text) {
  return parse_number<std::int64_t>(text).has_value();
}

void check_columns(const std::string& path, const TableColumns& columns, const ColumnContent& content) {
  check_number_of_classes(path, columns, content);
  for (const auto& warning : {warn_of_numbers, warn_of_lists, describe_spellings})
    if (const std::string text = warning(content.class_names); !text.empty())
      log_warning(fmt::format("'{}': classes in the column '{}' {}", path, columns.label, text));
  if (content.num_numbers == content.num_texts)
    log_warning(fmt::format("'{}': all texts in the column '{}' are numbers, for example '{}'", path, columns.text,
                            excerpt(content.number)));
}

}  // namespace convoy
