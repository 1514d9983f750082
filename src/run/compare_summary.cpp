/// Sums up runs that differ in a seed, or in other parameters, in one table.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
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

constexpr const char* kTestSet = "test.csv";
constexpr const char* kBestEpoch = "best epoch";
constexpr const char* kLastEpoch = "last epoch";

struct RunResult {
  std::string run;
  Parameters params;
  std::int64_t step = 0;
  std::string source;                    ///< kTestSet, or kBestEpoch or kLastEpoch of log.csv
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

// Returns the last epoch that was measured on the split of `best`.
MetricsRow last_measured(const std::vector<MetricsRow>& epochs, const BestEpoch& best) {
  const auto last = std::find_if(epochs.rbegin(), epochs.rend(),
                                 [&](const MetricsRow& row) { return row.metrics.contains(best.column); });
  return *last;
}

// Returns what is known of a run, one row for each kind: the result on the test set, or else the best and the last
// epoch. Without checkpoint.best, the weights of the best epoch are not kept, so only the last epoch is shown.
std::vector<RunResult> read_results(const std::string& run) {
  const auto params = read_parameters(run);
  if (!params) refuse("{} is not the directory of a run: it has no params.cfg. Name only run directories.", run);
  if (const auto test = read_test(run))
    return {{run, *params, test->step, kTestSet, values_of(*test, "test_", /*has_prefix=*/false)}};
  const std::vector<MetricsRow> epochs = read_epochs(run);
  const auto best = find_best_epoch(epochs, params->train.metric);
  if (!best) return {};
  const auto result_of = [&](const MetricsRow& row, const char* source) {
    return RunResult{run, *params, row.step, source, values_of(row, best->split, /*has_prefix=*/true)};
  };
  std::vector<RunResult> results;
  if (params->checkpoint.best) results.push_back(result_of(best->row, kBestEpoch));
  results.push_back(result_of(last_measured(epochs, *best), kLastEpoch));
  return results;
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
    for (std::size_t r = 0; r < results.size(); ++r)
      if (r == 0 || results[r].run != results[r - 1].run) values.push_back(shown_value(key, results[r].params));
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

// Returns the rows of the results with one source, then their mean and standard deviation.
std::vector<std::vector<std::string>> rows_of(const std::vector<RunResult>& results, const std::string& source,
                                              const std::vector<std::string>& columns) {
  std::vector<const RunResult*> shown;
  for (const RunResult& result : results)
    if (result.source == source) shown.push_back(&result);
  std::vector<std::vector<std::string>> rows;
  for (const RunResult* result : shown) rows.push_back({result->run, fmt::format("{}", result->step), source});
  std::vector<std::string> means = {"mean", "", source}, deviations = {"standard deviation", "", source};
  for (const std::string& column : columns) {
    const Metric& of_column = *find_metric(column);
    std::vector<double> values;
    for (std::size_t r = 0; r < shown.size(); ++r) {
      const auto value = shown[r]->values.find(column);
      const bool has_value = value != shown[r]->values.end();
      if (has_value) values.push_back(value->second);
      rows[r].push_back(has_value ? of_column.shown(value->second) : "");
    }
    const bool have_all = values.size() == shown.size();
    const Spread spread = have_all ? spread_of(values) : Spread();
    means.push_back(have_all ? of_column.shown(spread.mean) : "");
    deviations.push_back(have_all && values.size() > 1 ? of_column.shown(spread.stddev) : "");
  }
  rows.insert(rows.end(), {std::move(means), std::move(deviations)});
  return rows;
}

}  // namespace

std::string summarise_runs(const std::vector<std::string>& runs) {
  std::vector<RunResult> results;
  for (const std::string& run : runs) {
    const std::vector<RunResult> of_run = read_results(run);
    if (of_run.empty()) log_warning(fmt::format("{} is left out: it was not measured yet", run));
    results.insert(results.end(), of_run.begin(), of_run.end());
  }
  if (results.empty()) refuse("None of the runs was measured: there is nothing to sum up.");
  const std::vector<std::string> columns = columns_of(results);
  std::vector<std::vector<std::string>> rows = {{"run", "step", "of"}};
  for (const std::string& column : columns) rows.front().push_back(metric_title(column));
  for (const char* source : {kTestSet, kBestEpoch, kLastEpoch}) {
    const bool is_used = std::ranges::find(results, source, &RunResult::source) != results.end();
    if (is_used) std::ranges::copy(rows_of(results, source, columns), std::back_inserter(rows));
  }
  return describe_differences(results) + align(rows);
}

}  // namespace convoy
