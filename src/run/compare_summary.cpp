/// Sums up runs that differ in a seed, or in other parameters, in one table.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/metrics.h"
#include "convoy/params/parse.h"

#include "run/compare.h"
#include "run/run_tables.h"

namespace convoy {

namespace {

struct RunResult {
  std::string run;
  Parameters params;
  std::int64_t step = 0;
  std::string source;                    ///< "test.csv", or "best epoch" of log.csv
  std::map<std::string, double> values;  ///< by column: "test_top1"
};

// Returns the columns of `row` that begin with `split`, or all of them with `split` before their names.
std::map<std::string, double> values_of(const MetricsRow& row, const std::string& split, bool has_prefix) {
  std::map<std::string, double> values;
  for (const auto& [name, text] : row.metrics)
    if (!has_prefix || name.starts_with(split))
      values[has_prefix ? name : split + name] = std::strtod(text.c_str(), nullptr);
  return values;
}

// Returns nothing if the run was not measured yet.
std::optional<RunResult> read_result(const std::string& run) {
  const auto params = read_parameters(run);
  if (!params) refuse("{} is not the directory of a run: it has no params.cfg. Name only run directories.", run);
  if (const auto test = read_test(run))
    return RunResult{run, *params, test->step, "test.csv", values_of(*test, "test_", /*has_prefix=*/false)};
  const auto best = find_best_epoch(read_epochs(run), params->train.metric);
  if (!best) return std::nullopt;
  return RunResult{run, *params, best->row.step, "best epoch", values_of(best->row, best->split, /*has_prefix=*/true)};
}

// Returns a line for each parameter that differs, with its values in the order of the runs.
std::string describe_differences(const std::vector<RunResult>& results) {
  std::vector<std::string> keys;
  for (const RunResult& result : results)
    for (const KeyChange& change : changed_keys(results.front().params, result.params))
      if (change.key != "run.directory" && std::ranges::find(keys, change.key) == keys.end())
        keys.push_back(change.key);
  std::string text;
  for (const std::string& key : keys) {
    std::vector<std::string> values;
    for (const RunResult& result : results) values.push_back(shown_value(key, result.params));
    text += fmt::format("{} = {}\n", key, fmt::join(values, "; "));
  }
  return text;
}

// Returns the columns of all runs, loss first, then as in the list of metrics.
std::vector<std::string> columns_of(const std::vector<RunResult>& results) {
  std::set<std::string> names;
  for (const RunResult& result : results)
    for (const auto& [name, value] : result.values) names.insert(name);
  std::vector<std::string> columns(names.begin(), names.end());
  std::ranges::stable_sort(columns, {}, [](const std::string& name) { return find_metric(name); });
  return columns;
}

struct Spread {
  double mean = 0, stddev = NAN;  ///< stddev: NaN for one value
};

Spread spread_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  Spread spread;
  for (const double value : values) spread.mean += value;
  spread.mean /= count;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  if (count > 1) spread.stddev = std::sqrt(squares / (count - 1));
  return spread;
}

// Aligns the first column to the left, and the others to the right.
std::string align(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t c = 1; c < row.size(); ++c) text += fmt::format("  {:>{}}", row[c], widths[c]);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string summarise_runs(const std::vector<std::string>& runs) {
  std::vector<RunResult> results;
  for (const std::string& run : runs) {
    if (auto result = read_result(run))
      results.push_back(*std::move(result));
    else
      log_warning(fmt::format("{} is left out: it was not measured yet", run));
  }
  if (results.empty()) refuse("None of the runs was measured: there is nothing to sum up.");
  std::vector<std::vector<std::string>> rows(results.size() + 3);
  rows.front() = {"run", "step", "of"};
  for (std::size_t r = 0; r < results.size(); ++r)
    rows[r + 1] = {results[r].run, fmt::format("{}", results[r].step), results[r].source};
  auto &means = rows[results.size() + 1], &deviations = rows[results.size() + 2];
  means = {"mean", "", ""};
  deviations = {"standard deviation", "", ""};
  for (const std::string& column : columns_of(results)) {
    const Metric& of_column = *find_metric(column);
    rows.front().push_back(metric_title(column));
    std::vector<double> values;
    for (std::size_t r = 0; r < results.size(); ++r) {
      const auto value = results[r].values.find(column);
      if (value != results[r].values.end()) values.push_back(value->second);
      rows[r + 1].push_back(value == results[r].values.end() ? "" : of_column.shown(value->second));
    }
    const Spread spread = spread_of(values);
    const bool have_all = values.size() == results.size();
    means.push_back(have_all ? of_column.shown(spread.mean) : "");
    deviations.push_back(have_all && values.size() > 1 ? of_column.shown(spread.stddev) : "");
  }
  return describe_differences(results) + align(rows);
}

}  // namespace convoy
