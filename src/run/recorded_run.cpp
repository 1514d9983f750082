/// CSV with quotes only where a field may hold a comma.
#include "run/recorded_run.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"

namespace convoy {

namespace {

constexpr const char* kStartHeader = "step,version,grid,machine\n";

std::string starts_path(const std::string& run_directory) {
  return run_directory + "/starts.csv";
}

std::string quoted(std::string text) {
  std::ranges::replace(text, '"', '\'');
  return '"' + text + '"';
}

// Fields between commas that are not between quotes, without the quotes.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool within_quotes = false;
  for (const char c : line) {
    if (c == '"')
      within_quotes = !within_quotes;
    else if (c == ',' && !within_quotes)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

// Whole lines: what follows the last newline was cut short.
std::vector<std::vector<std::string>> rows_of(const std::string& path) {
  const std::string text = io::read_text(path).value_or("");
  std::vector<std::vector<std::string>> rows;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    rows.push_back(fields_of(std::string_view(text).substr(begin, end - begin)));
  return rows;
}

std::int64_t number(const std::string& field) {
  std::int64_t value = 0;
  std::from_chars(field.data(), field.data() + field.size(), value);
  return value;
}

}  // namespace

std::vector<RecordedStep> read_steps(const std::string& run_directory) {
  const std::string path = run_directory + "/steps.csv";
  const auto rows = rows_of(path);
  if (rows.empty()) return {};
  const std::vector<std::string>& header = rows.front();
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  const std::size_t loss = column("loss"), fingerprint = column("fingerprint");
  if (header.front() != "step" || loss == header.size()) fail("{} is no table of a run's steps", path);
  std::vector<RecordedStep> steps;
  for (const auto& row : rows)
    if (row.size() == header.size() && &row != &header)
      steps.push_back(
          {.step = number(row[0]), .loss = row[loss], .fingerprint = fingerprint < row.size() ? row[fingerprint] : ""});
  return steps;
}

void add_start(const std::string& run_directory, const RunStart& start) {
  const std::string path = starts_path(run_directory);
  io::write_text_atomically(
      path, io::read_text(path).value_or(kStartHeader) + fmt::format("{},{},{},{}\n", start.step, quoted(start.version),
                                                                     quoted(start.grid), quoted(start.machine)));
}

std::vector<RunStart> read_starts(const std::string& run_directory) {
  std::vector<RunStart> starts;
  for (const auto& row : rows_of(starts_path(run_directory)))
    if (row.size() == 4 && row[0] != "step")
      starts.push_back({.step = number(row[0]), .version = row[1], .grid = row[2], .machine = row[3]});
  return starts;
}

}  // namespace convoy
