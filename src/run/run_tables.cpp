/// Reads and writes CSV with quotes only around fields that may hold a comma.
#include "run/run_tables.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/metrics.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/io/atomic_file.h"
#include "convoy/params/parse.h"

#include "run/best_value.h"
#include "telemetry/log_file.h"

namespace convoy {

namespace {

constexpr const char* kStartHeader = "step,version,grid,machine,changed\n";
constexpr std::size_t kOldStartFields = 4;  // fields of a row up to version 0.9.0

std::string starts_path(const std::string& run_directory) {
  return run_directory + "/starts.csv";
}

std::string quoted(std::string text) {
  std::ranges::replace(text, '"', '\'');
  return '"' + text + '"';
}

// Returns the fields between commas that are not within quotes, without the quotes.
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

std::vector<std::vector<std::string>> rows_of(const std::string& path) {
  const std::string text = io::read_text(path).value_or("");
  std::vector<std::vector<std::string>> rows;
  for (const std::string_view line : whole_lines(text)) rows.push_back(fields_of(line));
  return rows;
}

std::int64_t number(const std::string& field) {
  return parse_number<std::int64_t>(field).value_or(0);
}

// Reads a table by the names of its columns: older versions wrote fewer columns.
std::vector<MetricsRow> read_table(const std::string& path, const char* needed) {
  const auto rows = rows_of(path);
  if (rows.empty()) return {};
  const std::vector<std::string>& header = rows.front();
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  const std::size_t step = column("step"), fingerprint = column("fingerprint");
  if (step == header.size() || column(needed) == header.size())
    fail("{} is not a table of a run: it has no columns 'step' and '{}'", path, needed);
  std::vector<MetricsRow> recorded;
  for (const auto& row : rows) {
    if (row.size() != header.size() || &row == &header) continue;
    MetricsRow& read = recorded.emplace_back();
    read.step = number(row[step]);
    if (fingerprint < row.size()) read.fingerprint = row[fingerprint];
    for (std::size_t c = 0; c < header.size(); ++c)
      if (!row[c].empty() && find_metric(header[c]) != nullptr) read.metrics[header[c]] = row[c];
  }
  return recorded;
}

}  // namespace

std::vector<MetricsRow> read_steps(const std::string& run_directory) {
  return read_table(run_directory + "/steps.csv", "loss");
}

std::vector<MetricsRow> read_epochs(const std::string& run_directory) {
  return read_table(run_directory + "/log.csv", "train_loss");
}

std::optional<MetricsRow> read_test(const std::string& run_directory) {
  const std::vector<MetricsRow> rows = read_table(run_directory + "/test.csv", "loss");
  return rows.empty() ? std::nullopt : std::optional(rows.back());
}

std::optional<BestEpoch> find_best_epoch(const std::vector<MetricsRow>& epochs, std::optional<MetricKind> kind) {
  if (!kind) {
    for (const MetricKind usual : kUsualMetrics)
      if (auto best = find_best_epoch(epochs, usual)) return best;
    return std::nullopt;
  }
  const Metric& followed = metric(*kind);
  std::optional<BestEpoch> best;
  MeasuredEpoch best_epoch;
  for (const char* split : {"val_", "test_"}) {
    for (const MetricsRow& row : epochs) {
      const std::string column = std::string(split) + followed.name;
      const auto field = row.metrics.find(column);
      const auto loss = row.metrics.find(std::string(split) + "loss");
      const auto number_in = [&](const auto& at) {
        return at == row.metrics.end() ? NAN : std::strtod(at->second.c_str(), nullptr);
      };
      const MeasuredEpoch epoch{.value = number_in(field), .loss = number_in(loss)};
      if (!std::isfinite(epoch.value) || (best && !is_better(followed, epoch, best_epoch))) continue;
      best = {.row = row, .split = split, .column = column};
      best_epoch = epoch;
    }
    if (best) break;
  }
  return best;
}

std::optional<Parameters> read_parameters(const std::string& run_directory) {
  const std::string path = run_directory + "/params.cfg";
  const auto text = io::read_text(path);
  return text ? std::optional(parse_parameters(*text, path)) : std::nullopt;
}

std::string describe_faulty_rows(const std::vector<MetricsRow>& rows, std::int64_t first, std::int64_t last) {
  std::map<std::int64_t, std::int64_t> counts;
  bool are_in_order = true;
  std::int64_t before = 0;
  for (const MetricsRow& row : rows) {
    ++counts[row.step];
    are_in_order = are_in_order && row.step > before;
    before = row.step;
  }
  std::vector<NumberRange> absent, doubled;
  std::int64_t next = first;  // first step after the rows checked so far
  for (const auto& [step, count] : counts) {
    if (step > next) absent.emplace_back(next, step - 1);
    next = std::max(next, step + 1);
    if (count <= 1) continue;
    if (doubled.empty() || doubled.back().second + 1 < step) doubled.emplace_back(step, step);
    doubled.back().second = step;
  }
  if (next <= last) absent.emplace_back(next, last);
  std::vector<std::string> faults;
  if (!absent.empty()) faults.push_back("no row of step " + shown_ranges(absent));
  if (!doubled.empty()) faults.push_back("several rows of step " + shown_ranges(doubled));
  if (doubled.empty() && !are_in_order) faults.emplace_back("rows in another order than their steps");
  if (faults.empty()) return "";
  return fmt::format("it has {}: it was changed, or rows were lost", fmt::join(faults, ", "));
}

void add_start(const std::string& run_directory, const RunStart& start) {
  std::string text = kStartHeader;
  std::vector<RunStart> starts = read_starts(run_directory);
  starts.push_back(start);
  for (const RunStart& row : starts)
    text += fmt::format("{},{},{},{},{}\n", row.step, quoted(row.version), quoted(row.grid), quoted(row.machine),
                        quoted(row.changed));
  io::write_text_atomically(starts_path(run_directory), text);
}

std::vector<RunStart> read_starts(const std::string& run_directory) {
  std::vector<RunStart> starts;
  for (const auto& row : rows_of(starts_path(run_directory)))
    if (row.size() >= kOldStartFields && row[0] != "step")
      starts.push_back({.step = number(row[0]),
                        .version = row[1],
                        .grid = row[2],
                        .machine = row[3],
                        .changed = row.size() > kOldStartFields ? row[kOldStartFields] : ""});
  return starts;
}

}  // namespace convoy
