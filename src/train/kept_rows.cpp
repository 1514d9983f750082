/// A table is read line by line, and compared with the steps that it must have.
#include "train/kept_rows.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace convoy {

namespace {

struct Row {
  std::int64_t step = 0;
  std::string line;
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
    lines.push_back(text.substr(0, end));
  return lines;  // what follows the last newline was cut short by a crash
}

std::ptrdiff_t commas_in(std::string_view line) {
  return std::count(line.begin(), line.end(), ',');
}

// The line has that many commas.
std::optional<std::int64_t> step_in(std::string_view line, std::ptrdiff_t column) {
  for (; column > 0; --column) line.remove_prefix(line.find(',') + 1);
  const std::string_view field = line.substr(0, line.find(','));
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(field.begin(), field.end(), step);
  return error == std::errc() && end == field.end() ? std::optional(step) : std::nullopt;
}

// As it is now, or as it was when it had fewer columns.
bool is_header(std::string_view line, std::string_view header) {
  return !line.empty() && header.starts_with(line) && (line.size() == header.size() || header[line.size()] == ',');
}

std::vector<Row> rows_up_to(std::string_view text, const TableColumns& columns, std::int64_t last_step) {
  std::vector<Row> rows;
  const std::ptrdiff_t commas_now = commas_in(columns.header);
  std::ptrdiff_t commas = commas_now;
  for (const std::string_view line : lines_of(text)) {
    if (is_header(line, columns.header)) {
      commas = commas_in(line);
      continue;
    }
    if (commas_in(line) != commas) continue;
    const auto step = step_in(line, columns.step_column);
    const std::int64_t before = rows.empty() ? 0 : rows.back().step;
    if (step && *step > before && *step <= last_step)
      rows.push_back({*step, std::string(line) + std::string(static_cast<std::size_t>(commas_now - commas), ',')});
  }
  return rows;
}

using Range = std::pair<std::int64_t, std::int64_t>;  // of steps: first, last

// "3 to 7, 9"
std::string describe(const std::vector<Range>& ranges) {
  constexpr std::size_t kMaxShown = 4;
  std::vector<std::string> shown;
  for (const auto& [first, last] : ranges) {
    if (shown.size() == kMaxShown) return fmt::format("{}, ...", fmt::join(shown, ", "));
    shown.push_back(first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last));
  }
  return fmt::format("{}", fmt::join(shown, ", "));
}

std::vector<std::int64_t> steps_of(const ExpectedRows& expected, const std::vector<Row>& rows) {
  std::int64_t first = expected.first;
  if (first == 0) first = rows.empty() ? expected.last + 1 : rows.front().step;
  std::vector<std::int64_t> steps;
  for (std::int64_t k = (first + expected.every - 1) / expected.every; k * expected.every < expected.last; ++k)
    steps.push_back(k * expected.every);
  if (expected.last >= first) steps.push_back(expected.last);
  return steps;
}

std::string describe_lost(const std::string& path, const std::vector<Row>& rows,
                          const std::vector<std::int64_t>& expected) {
  std::vector<Range> lost;
  std::size_t num_lost = 0;
  bool previous_is_lost = false;
  auto row = rows.begin();
  for (const std::int64_t step : expected) {
    row = std::find_if(row, rows.end(), [&](const Row& candidate) { return candidate.step >= step; });
    const bool is_lost = row == rows.end() || row->step != step;
    if (is_lost && previous_is_lost) lost.back().second = step;
    if (is_lost && !previous_is_lost) lost.emplace_back(step, step);
    if (is_lost) ++num_lost;
    previous_is_lost = is_lost;
  }
  if (num_lost == 0) return "";
  return fmt::format(
      "{} has lost {} of the {} rows that this run wrote before: those of step {}. The file was removed or changed "
      "since "
      "then. The run continues without these rows",
      path, num_lost, expected.size(), describe(lost));
}

}  // namespace

KeptRows keep_rows(const std::string& path, std::string_view text, const TableColumns& columns, std::int64_t last_step,
                   const ExpectedRows& expected) {
  const std::vector<Row> rows = rows_up_to(text, columns, last_step);
  KeptRows kept{.text = "", .lost = describe_lost(path, rows, steps_of(expected, rows))};
  for (const Row& row : rows) kept.text += row.line + '\n';
  return kept;
}

}  // namespace convoy
