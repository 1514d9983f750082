/// Trains without evaluations, checkpoints or a run directory of its own; rank 0 compares its steps with the recorded
/// ones.
#include "run/replay.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/fingerprint.h"
#include "convoy/base/print.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/comm/on_root.h"
#include "convoy/comm/tags.h"
#include "convoy/params/parse.h"

#include "checkpoint/model_fingerprint.h"
#include "run/restart.h"
#include "run/run_calendar.h"
#include "run/run_tables.h"
#include "run/training_setup.h"
#include "step/metric_list.h"
#include "step/metrics.h"
#include "watchdog/status_board.h"

namespace convoy {

namespace {

/// Compares values of one kind that were computed again with the recorded ones.
class Verdict {
 public:
  explicit Verdict(std::string what) : what_(std::move(what)) {}

  void add(std::int64_t step, const std::string& recorded, const std::string& computed, bool equal) {
    ++num_compared_;
    if (equal) return;
    if (++num_differing_ == 1)
      first_ = fmt::format("the first difference is at step {}: recorded {}, computed {}", step, recorded, computed);
  }

  bool holds() const { return num_differing_ == 0; }
  std::string text() const {
    if (num_compared_ == 0) return fmt::format("{}: none is recorded for these steps", what_);
    if (holds()) return fmt::format("{}: all {} are equal to the recorded ones, bit by bit", what_, num_compared_);
    return fmt::format("{}: {} of {} differ; {}", what_, num_differing_, num_compared_, first_);
  }

 private:
  std::string what_;
  std::int64_t num_compared_ = 0, num_differing_ = 0;
  std::string first_;
};

using RecordedSteps = std::map<std::int64_t, MetricsRow>;

// Returns the recorded steps on rank 0. Refuses on all ranks if a step is missing.
RecordedSteps recorded_steps(const Parameters& params, const mpi::Communicator& world) {
  RecordedSteps recorded;
  mpi::on_root(world, [&] {
    const std::vector<MetricsRow> rows = read_steps(params.run.directory);
    for (const MetricsRow& step : rows) recorded[step.step] = step;
    for (const std::int64_t step : {params.replay.steps.first, params.replay.steps.last}) {
      if (recorded.contains(step)) continue;
      const std::string has = recorded.empty()
                                  ? "no steps"
                                  : fmt::format("steps {} to {}", recorded.begin()->first, recorded.rbegin()->first);
      refuse("replay.steps: {}/steps.csv has {}, but no step {}.", params.run.directory, has, step);
    }
    const std::string faults = describe_faulty_rows(rows, params.replay.steps.first, params.replay.steps.last);
    if (!faults.empty()) fail("{}/steps.csv: {}. Nothing was replayed.", params.run.directory, faults);
  });
  return recorded;
}

// "--train.epochs=1", as a shell takes it.
std::string option(const std::string& key, const std::string& value) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:=+-";
  if (value == "(empty)") return fmt::format("--{}=", key);
  std::string text = fmt::format("--{}={}", key, value);
  if (text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

// Returns the starts that count: a start from a checkpoint replaces earlier starts from the same or a later one.
std::vector<RunStart> effective_starts(const std::string& run_directory) {
  std::vector<RunStart> starts;
  for (RunStart& start : read_starts(run_directory)) {
    std::erase_if(starts, [&](const RunStart& before) { return before.step >= start.step; });
    starts.push_back(std::move(start));
  }
  return starts;
}

struct OldValue {
  std::string key, value;
};

// Returns the old values in "optimizer.lr 0.1 -> 0.2, train.epochs 1 -> 2": 0.1 and 1.
std::vector<OldValue> old_values(const std::string& changes) {
  constexpr std::string_view kNext = ", ", kArrow = " -> ";
  std::vector<OldValue> values;
  for (std::size_t begin = 0; begin < changes.size();) {
    const std::size_t space = std::min(changes.find(' ', begin), changes.size());
    const std::size_t arrow = changes.find(kArrow, space);
    const std::string key = changes.substr(begin, space - begin);
    const bool is_change = is_key(key) && arrow != std::string::npos && arrow > space;
    if (is_change) values.push_back({key, changes.substr(space + 1, arrow - space - 1)});
    const std::size_t next = changes.find(kNext, is_change ? arrow : begin);  // or a comma within a list of values
    begin = next == std::string::npos ? changes.size() : next + kNext.size();
  }
  return values;
}

// Refuses if a later start has changed parameters that these steps were made with. They are computed from step `done`.
// Rank 0.
void check_same_parameters(const Parameters& params, std::int64_t done) {
  const StepRange& asked = params.replay.steps;
  std::set<std::string> known;  // keys whose first change after `done` gives their old value
  for (const RunStart& start : effective_starts(params.run.directory)) {
    if (start.step <= done) continue;
    std::vector<std::string> options;
    bool has_other = false;
    for (const auto& [key, before] : old_values(start.changed)) {
      if (!known.insert(key).second) continue;
      options.push_back(option(key, before));
      has_other = has_other || shown_value(key, params) != before;
    }
    if (options.empty()) continue;
    const std::string why =
        fmt::format("{} was started again at step {} with {}", params.run.directory, start.step, start.changed);
    if (asked.last > start.step)
      refuse(
          "replay.steps = {}-{}, computed from step {} on: {}. Replay the steps up to step {} separately, with {}, and "
          "the steps after it from a checkpoint of that step.",
          asked.first, asked.last, done + 1, why, start.step, fmt::join(options, " "));
    if (has_other)
      refuse("replay.steps = {}-{}: {}. Give the values that these steps were made with: {}.", asked.first, asked.last,
             why, fmt::join(options, " "));
  }
}

// Whether the numbers have the same bits. The loss of a bad step may be NaN; a table does not record which NaN, so all
// count as the same.
bool is_same_number(double computed, const std::string& recorded) {
  const double before = std::strtod(recorded.c_str(), nullptr);
  if (std::isnan(computed) && std::isnan(before)) return true;
  return std::bit_cast<std::uint64_t>(computed) == std::bit_cast<std::uint64_t>(before);
}

/// Compares each metric of a step with the recorded one.
class MetricVerdicts {
 public:
  explicit MetricVerdicts(const MetricList& list) : metrics_(list.of_steps()) {
    for (const NetworkMetric& metric : metrics_)
      verdicts_.emplace_back(metric.name() == "loss" ? "losses" : metric.title);
  }

  void add(const MetricsRow& row, const StepMetrics& computed) {
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      const auto recorded = row.metrics.find(metrics_[i].name());
      if (recorded == row.metrics.end()) continue;  // an older table lacks the column
      const double value = metrics_[i].value(computed);
      verdicts_[i].add(row.step, recorded->second, fmt::format("{:.17g}", value),
                       is_same_number(value, recorded->second));
    }
  }

  bool hold() const { return std::ranges::all_of(verdicts_, &Verdict::holds); }
  std::string text() const {
    std::string lines;
    for (const Verdict& verdict : verdicts_) lines += verdict.text() + '\n';
    return lines;
  }

 private:
  std::vector<NetworkMetric> metrics_;
  std::vector<Verdict> verdicts_;
};

}  // namespace

ExitStatus replay(const Parameters& params, const mpi::Communicator& world, ops::Backend& backend, StatusBoard& board) {
  // 1. The recorded steps, and the step to begin from
  const StepRange& asked = params.replay.steps;
  requested_grid(params, world.size());
  const RecordedSteps recorded = recorded_steps(params, world);
  board.enter(Activity::kOpeningData);
  const RunData data(params, world);
  board.enter(Activity::kPlanning);
  count_steps(params, data.train.info());  // may refuse, before anything is measured
  const RunLayout layout = choose_layout(params, data.metadata, world, backend);
  board.enter(Activity::kStarting);
  Parameters replayed = params;
  replayed.run.audit_every = 0;
  TrainingSetup setup(replayed, data.train, data.metadata, layout, world, backend, board);
  TrainingStep& training = setup.training;
  const std::optional<Resumed> start = start_before(params, data, asked.first, training);
  const std::int64_t done = start ? start->state.step : 0;
  mpi::on_root(world, [&] { check_same_parameters(params, done); });
  const double rate_factor = start ? start->state.rate_factor : 1;
  // 2. What a training reads
  const std::unique_ptr<Loader> loader = setup.open_steps(done, asked.last - done);
  const RunCalendar calendar(params, setup.steps);
  MetricsChannel metrics(setup.runtime, tags::kTrainingLosses);
  // 3. The steps
  board.enter(Activity::kTraining);
  MetricVerdicts of_metrics(MetricList(setup.runtime.plan(), data.metadata));
  Verdict fingerprints("fingerprints");
  for (std::int64_t step = done + 1; step <= asked.last; ++step) {
    training.run(*loader, learning_rate(setup.rates, step - 1) * rate_factor);
    metrics.post(training.loss());
    const bool is_due = calendar.fingerprint_is_due(step) || step == asked.last;
    const std::string fingerprint = is_due ? fingerprint_text(model_fingerprint(setup.runtime)) : "";
    if (!setup.grid.is_root()) continue;
    const StepMetrics computed = metrics.collect();
    if (step < asked.first || !recorded.contains(step)) continue;
    const MetricsRow& row = recorded.at(step);
    of_metrics.add(row, computed);
    if (is_due && !row.fingerprint.empty())
      fingerprints.add(step, row.fingerprint, fingerprint, fingerprint == row.fingerprint);
  }
  metrics.finish();
  setup.runtime.finish();
  // 4. What they say
  bool holds = of_metrics.hold() && fingerprints.holds();
  world.broadcast(&holds, sizeof holds, 0);
  if (setup.grid.is_root())
    print("replayed {} of {} on {} x {}, from {}\n{}{}\n", counted_range(asked.first, asked.last, "step"),
          params.run.directory, counted(setup.grid.num_stages(), "stage"),
          counted(setup.grid.num_replicas(), "replica"), start ? start->path : "its start", of_metrics.text(),
          fingerprints.text());
  return holds ? ExitStatus::kDone : ExitStatus::kFailed;
}

}  // namespace convoy
