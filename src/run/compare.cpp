/// Compares first what was recorded per step, then the checkpoints.
#include "run/compare.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/fingerprint.h"
#include "convoy/base/metrics.h"
#include "convoy/base/wording.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/safetensors.h"
#include "convoy/params/parse.h"

#include "run/compare_tensors.h"
#include "run/run_tables.h"

namespace convoy {

namespace {

/// Content of a file, as far as two files can be compared.
struct Weights {
  std::string path, written_by;
  std::map<std::string, std::vector<io::NamedTensor>> groups;  ///< "model", "optimizer momentum", "moving average"
};

Weights read_weights(const std::string& path) {
  Weights weights{.path = path};
  if (io::is_safetensors_file(path)) {
    weights.groups["model"] = io::decode_safetensors(io::read_safetensors_file(path), path).tensors;
    return weights;
  }
  io::Checkpoint checkpoint = io::decode_checkpoint(io::read_checkpoint_file(path), path);
  io::load_values(checkpoint, path);
  weights.written_by = checkpoint.written_by;
  weights.groups["model"] = std::move(checkpoint.model);
  for (auto& [state, tensors] : checkpoint.optimizer) weights.groups["optimizer " + state] = std::move(tensors);
  if (!checkpoint.ema.empty()) weights.groups["moving average"] = std::move(checkpoint.ema);
  return weights;
}

void add_line(Comparison& comparison, bool equal, const std::string& line) {
  comparison.equal = comparison.equal && equal;
  comparison.text += line + '\n';
}

void compare_weights(const Weights& a, const Weights& b, Comparison& comparison) {
  const auto describe_file = [](const Weights& weights) {
    return fmt::format("{}: fingerprint {}{}", weights.path,
                       fingerprint_text(io::fingerprint(weights.groups.at("model"))),
                       weights.written_by.empty() ? "" : ", written by " + weights.written_by);
  };
  add_line(comparison, true, describe_file(a));
  add_line(comparison, true, describe_file(b));
  for (const auto& [group, tensors] : a.groups) {
    const auto other = b.groups.find(group);
    if (other == b.groups.end()) {
      add_line(comparison, false, fmt::format("  {}: only in the first", group));
      continue;
    }
    const TensorsComparison difference = compare_tensors(tensors, other->second);
    add_line(comparison, difference.equal(), fmt::format("  {}: {}", group, describe(difference)));
    comparison.text.pop_back();  // the description ends with a newline of its own
  }
  for (const auto& [group, tensors] : b.groups)
    if (!a.groups.contains(group)) add_line(comparison, false, fmt::format("  {}: only in the second", group));
}

/// Values of one column, by step.
using Column = std::map<std::int64_t, std::string>;

std::map<std::string, Column> metrics_of(const std::vector<MetricsRow>& rows) {
  std::map<std::string, Column> columns;
  for (const MetricsRow& row : rows)
    for (const auto& [name, value] : row.metrics) columns[name][row.step] = value;
  return columns;
}

Column fingerprints_of(const std::vector<MetricsRow>& rows) {
  Column column;
  for (const MetricsRow& row : rows)
    if (!row.fingerprint.empty()) column[row.step] = row.fingerprint;
  return column;
}

bool have_common(const Column& a, const Column& b) {
  return std::ranges::any_of(a, [&](const auto& row) { return b.contains(row.first); });
}

// `row` names what a value belongs to: "step".
void compare_columns(const std::string& what, const char* row, const Column& a, const Column& b,
                     Comparison& comparison) {
  std::int64_t num_common = 0, last_equal = 0;
  for (const auto& [step, value] : a) {
    const auto other = b.find(step);
    if (other == b.end()) continue;
    ++num_common;
    if (other->second != value) {
      const std::string before = last_equal > 0 ? fmt::format("; they are equal up to step {}", last_equal) : "";
      add_line(comparison, false,
               fmt::format("{}: first difference at step {}: {} and {}{}", what, step, value, other->second, before));
      return;
    }
    last_equal = step;
  }
  if (num_common == 0)
    add_line(comparison, true, fmt::format("{}: no step has a value in both runs", what));
  else
    add_line(comparison, true,
             fmt::format("{}: equal in {} that both runs have", what,
                         num_common == 1 ? fmt::format("the one {}", row) : "all " + counted(num_common, row)));
}

// Compares what both record of their steps. It is no difference if one table is older and has fewer columns.
void compare_steps(const std::vector<MetricsRow>& a, const std::vector<MetricsRow>& b, Comparison& comparison) {
  const auto of_a = metrics_of(a), of_b = metrics_of(b);
  for (const auto& [name, column] : of_a)
    if (const auto other = of_b.find(name); other != of_b.end() && have_common(column, other->second))
      compare_columns(name == "loss" ? "losses" : metric_title(name), "step", column, other->second, comparison);
  compare_columns("fingerprints", "step", fingerprints_of(a), fingerprints_of(b), comparison);
}

// Compares evaluations only: an epoch's training metrics are sums of its steps, which are compared already.
void compare_evaluations(const std::vector<MetricsRow>& a, const std::vector<MetricsRow>& b, Comparison& comparison) {
  const auto of_a = metrics_of(a), of_b = metrics_of(b);
  bool has_common = false;
  for (const auto& [name, column] : of_a) {
    const auto other = of_b.find(name);
    if (name.starts_with("train_") || other == of_b.end() || !have_common(column, other->second)) continue;
    has_common = true;
    compare_columns(metric_title(name), "evaluation", column, other->second, comparison);
  }
  if (!has_common) add_line(comparison, true, "evaluations: the runs have none in common");
}

// Returns "val macro F1 0.8123 at step 12": the best value of the metric that the run follows, on the split that its
// epochs are measured on.
std::string best_of(const std::vector<MetricsRow>& epochs, std::optional<MetricKind> kind) {
  const auto best = find_best_epoch(epochs, kind);
  if (!best) return "none";
  const double value = std::strtod(best->row.metrics.at(best->column).c_str(), nullptr);
  return fmt::format("{} at step {}", named_value(best->column, value), best->row.step);
}

std::string checkpoints_of(const std::string& run) {
  return run + "/checkpoints";
}

bool is_run(const std::string& path) {
  std::error_code unknown;  // reading it then gives the reason
  return std::filesystem::exists(path + "/steps.csv", unknown) ||
         std::filesystem::is_directory(checkpoints_of(path), unknown);
}

// Returns the steps of the checkpoints that both have.
std::vector<std::int64_t> common_checkpoints(const std::string& a, const std::string& b,
                                             const std::vector<MetricsRow>& steps) {
  std::vector<std::int64_t> common;
  const auto has = [](const std::string& run, std::int64_t step) {
    std::error_code unknown;
    return std::filesystem::exists(io::checkpoint_path(checkpoints_of(run), step), unknown);
  };
  for (const MetricsRow& step : steps)
    if (has(a, step.step) && has(b, step.step)) common.push_back(step.step);
  return common;
}

// Returns the step of the newest checkpoint in the run's folder; 0 if there is none.
std::int64_t newest_checkpoint_step(const std::string& run) {
  std::int64_t newest = 0;
  std::error_code unknown;
  for (const auto& entry : std::filesystem::directory_iterator(checkpoints_of(run), unknown)) {
    const std::string name = entry.path().filename().string();
    const std::int64_t step = name.starts_with("step-") ? std::atoll(name.c_str() + 5) : 0;
    if (io::checkpoint_path(checkpoints_of(run), step) == entry.path().string()) newest = std::max(newest, step);
  }
  return newest;
}

// Checks that all steps of the run since its first start have a row, up to the step of a checkpoint that existed before
// the rows were read: the run may be training.
void check_rows(const std::string& run, const std::vector<MetricsRow>& steps, std::int64_t checkpoint,
                Comparison& comparison) {
  const std::vector<RunStart> starts = read_starts(run);
  const std::int64_t first = starts.empty() ? steps.front().step : starts.front().step + 1;
  const std::int64_t last = std::max(steps.back().step, checkpoint);
  if (const std::string faults = describe_faulty_rows(steps, first, last); !faults.empty())
    add_line(comparison, false, fmt::format("{}/steps.csv: {}", run, faults));
}

void describe_run(const std::string& run, Comparison& comparison) {
  const std::vector<RunStart> starts = read_starts(run);
  const std::string started = starts.empty()
                                  ? "machine and version of its start are not known"
                                  : fmt::format("convoy {}, {} (replicas x stages) on {}", starts.back().version,
                                                starts.back().grid, starts.back().machine);
  const std::string several = starts.size() > 1 ? fmt::format("; started {} times, last", starts.size()) : "";
  add_line(comparison, true, fmt::format("{}{}: {}", run, several, started));
}

// Lists parameters that differ: they explain a difference, but do not count as one.
void compare_parameters(const std::optional<Parameters>& of_a, const std::optional<Parameters>& of_b,
                        Comparison& comparison) {
  if (!of_a || !of_b) return;
  std::string text;
  for (const KeyChange& change : changed_keys(*of_a, *of_b))
    if (change.key != "run.directory")
      text += fmt::format("{}{} = {} and {}", text.empty() ? "" : "; ", change.key, change.before, change.after);
  add_line(comparison, true, text.empty() ? "parameters: equal" : "parameters that differ: " + text);
}

Comparison compare_runs(const std::string& a, const std::string& b) {
  Comparison comparison{.equal = true};
  describe_run(a, comparison);
  describe_run(b, comparison);
  const auto params_a = read_parameters(a), params_b = read_parameters(b);
  compare_parameters(params_a, params_b, comparison);
  const std::int64_t newest_a = newest_checkpoint_step(a), newest_b = newest_checkpoint_step(b);
  const auto steps_a = read_steps(a), steps_b = read_steps(b);
  if (!have_common(metrics_of(steps_a)["loss"], metrics_of(steps_b)["loss"]))
    refuse("{} and {} have no step in common: there is nothing to compare", a, b);
  check_rows(a, steps_a, newest_a, comparison);
  check_rows(b, steps_b, newest_b, comparison);
  compare_steps(steps_a, steps_b, comparison);
  const auto epochs_a = read_epochs(a), epochs_b = read_epochs(b);
  compare_evaluations(epochs_a, epochs_b, comparison);
  const auto best = [](const std::vector<MetricsRow>& epochs, const std::optional<Parameters>& params) {
    return best_of(epochs, params.value_or(Parameters()).train.metric);
  };
  add_line(comparison, true,
           fmt::format("best: {} in the first, {} in the second", best(epochs_a, params_a), best(epochs_b, params_b)));
  const auto common = common_checkpoints(a, b, steps_a);
  if (common.empty()) add_line(comparison, true, "checkpoints: the runs have none of the same step");
  for (const std::int64_t step : common)
    compare_weights(read_weights(io::checkpoint_path(checkpoints_of(a), step)),
                    read_weights(io::checkpoint_path(checkpoints_of(b), step)), comparison);
  return comparison;
}

// Returns the path of a file unchanged, and that of a run's newest checkpoint. Throws Error if the run has none.
std::string file_of(const std::string& path) {
  if (!is_run(path)) return path;
  const auto found = io::find_newest_checkpoint(checkpoints_of(path), [](const auto&, const auto&) {});
  if (!found) fail("{} has no checkpoint that can be read", path);
  return found->path;
}

}  // namespace

Comparison compare(const std::string& a, const std::string& b) {
  if (is_run(a) && is_run(b)) return compare_runs(a, b);
  Comparison comparison{.equal = true};
  compare_weights(read_weights(file_of(a)), read_weights(file_of(b)), comparison);
  return comparison;
}

}  // namespace convoy
