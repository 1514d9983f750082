/// Turns the trainer's numbers into rows and scalars.
#include "run/live_files.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "convoy/base/clock.h"
#include "convoy/base/log.h"
#include "convoy/base/wording.h"
#include "convoy/comm/topology.h"
#include "convoy/params/parameters.h"

#include "plan/planner.h"
#include "telemetry/slow_ranks.h"

namespace convoy {

namespace {

// "convoy train my.cfg --grid.stages=2"
std::string own_command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::string line{std::istreambuf_iterator<char>(file), {}};
  while (!line.empty() && line.back() == '\0') line.pop_back();
  std::ranges::replace(line, '\0', ' ');
  return line;
}

std::optional<SlowRanks::Spec> slow_spec(const RankRuntime& runtime, const RunLayout& layout, const GridShape& grid,
                                         const std::vector<StageTimes>& planned) {
  SlowRanks::Spec spec{.grid = grid, .micro_batches = {}, .planned_seconds = {}};
  for (std::int64_t replica = 0; replica < grid.replicas; ++replica)
    spec.micro_batches.push_back(runtime.plan().micro_batches_of(replica).size());
  if (layout.machine && layout.machine->is_measured())
    for (const StageTimes& stage : planned) spec.planned_seconds.push_back(stage.busy_seconds);
  return spec;
}

// Adds "val_macro_f1" to the row and "macro_f1/val" to the scalars; for an objective "masked_words_loss" and
// "loss/val_masked_words".
void add(const NetworkMetric& metric, const std::string& split, const std::string& prefix, const StepMetrics& metrics,
         JsonRow& row, std::vector<Scalar>& scalars) {
  const double value = metric.value(metrics);
  row.add(prefix + metric.name(), value);
  scalars.push_back(
      {fmt::format("{}/{}{}{}", metric.metric->name, split, metric.group.empty() ? "" : "_", metric.group), value});
}

}  // namespace

LiveSpec live_spec(const TrainingSetup& setup, const RankMonitor& monitor) {
  const ProcessGrid& grid = setup.grid;
  const auto node = [&] {
    return find_node_load(grid.world(), threads_per_rank(setup.params.run.threads, grid.world()));
  };
  const bool shares_cores = setup.runtime.device().is_host() && node().is_shared();
  LiveSpec spec{.grid = {.stages = grid.num_stages(), .replicas = grid.num_replicas()},
                .hosts = monitor.hosts(),
                .has_sensors = monitor.has_sensors(),
                .why_no_sensors = monitor.why_no_sensors(),
                .planned = predict_step(setup.runtime.plan()).stages,
                .slow = std::nullopt};
  if (!shares_cores) spec.slow = slow_spec(setup.runtime, setup.layout, spec.grid, spec.planned);
  return spec;
}

LiveFiles::LiveFiles(const Parameters& params, LiveSpec spec, const RunLog::Keep& keep, const MetricList& metrics)
    : params_(params),
      spec_(std::move(spec)),
      metrics_(metrics),
      log_(params.run.directory + "/log.jsonl", {.steps = keep.steps, .epochs = keep.epochs}),
      ranks_(params.run.directory + "/ranks.csv", spec_.has_sensors, keep.steps),
      step_(keep.steps) {
  if (params.run.tensorboard) events_.emplace(params.run.directory, keep.steps, wall_clock_seconds());
  if (spec_.slow) slow_.emplace(*spec_.slow);
  set_warning_listener([this](std::string_view text) {
    log_.add_at_once(JsonRow("warning", wall_clock_seconds(), step_).add("text", text));
  });
  if (!spec_.why_no_sensors.empty())
    log_warning(fmt::format("the readings of GPUs are not written to ranks.csv: {}", spec_.why_no_sensors));
}

LiveFiles::~LiveFiles() {
  set_warning_listener({});
  if (has_ended_) return;
  try {
    add_end(step_, "failed");
  } catch (...) {  // a full disk, perhaps: the run's own error says more
  }
}

void LiveFiles::add_start(const LiveStart& start) {
  log_.add_at_once(JsonRow("start", wall_clock_seconds(), start.step)
                       .add("version", start.version)
                       .add("command", own_command_line())
                       .add("replicas", spec_.grid.replicas)
                       .add("stages", spec_.grid.stages)
                       .add("machine", start.machine)
                       .add("total_steps", start.steps.total)
                       .add("steps_per_epoch", start.steps.per_epoch)
                       .add("batch", params_.batch.global)
                       .add("metric", metrics_.chosen().metric->name));
}

void LiveFiles::add_step(const StepRow& row, double now) {
  const double time = wall_clock_seconds();
  step_ = row.step;
  JsonRow json("step", time, row.step);
  std::vector<Scalar> scalars;
  for (const NetworkMetric& metric : metrics_.of_network()) add(metric, "train", "", row.metrics, json, scalars);
  json.add("lr", row.lr).add("seconds", row.seconds);
  if (row.outcome != StepOutcome::kApplied) json.add("skipped", why_skipped(row.outcome));
  scalars.push_back({"learning_rate", row.lr});
  scalars.push_back({"speed/step_seconds", row.seconds});
  scalars.push_back({"speed/samples_per_second", static_cast<double>(params_.batch.global) / row.seconds});
  for (const NetworkMetric& metric : metrics_.of_objectives()) add(metric, "train", "", row.metrics, json, scalars);
  log_.add(json, now);
  add_scalars(row.step, time, scalars, now);
}

void LiveFiles::add_epoch(const EpochRow& row) {
  const double time = wall_clock_seconds(), now = now_seconds();
  JsonRow json("epoch", time, row.step);
  std::vector<Scalar> scalars;
  json.add("epoch", row.epoch).add("samples", row.samples).add("lr", row.lr);
  std::vector<Scalar> of_training;  // not shown per epoch: TensorBoard has it per step
  for (const NetworkMetric& metric : metrics_.of_steps()) add(metric, "train", "train_", row.train, json, of_training);
  for (const NetworkMetric& metric : metrics_.all()) {
    if (row.test) add(metric, "test", "test_", *row.test, json, scalars);
    if (row.val) add(metric, "val", "val_", *row.val, json, scalars);
  }
  json.add("samples_per_second", row.samples_per_second)
      .add("seconds", row.seconds)
      .add("evaluation_seconds", row.evaluation_seconds)
      .add("save_seconds", row.save_seconds);
  log_.add(json, now);
  if (!scalars.empty()) add_scalars(row.step, time, scalars, now);
  write_rows();
}

void LiveFiles::add_rollback(const io::TrainingState& state) {
  step_ = state.step;
  log_.add(JsonRow("rollback", wall_clock_seconds(), state.step).add("rate_factor", state.rate_factor), now_seconds());
  write_rows();
  if (events_) events_.emplace(params_.run.directory, state.step, wall_clock_seconds());
}

void LiveFiles::add_checkpoint(std::int64_t step, const std::string& path) const {
  log_.add_at_once(JsonRow("checkpoint", wall_clock_seconds(), step).add("path", path));
}

void LiveFiles::add_samples(const RankSamples& samples) {
  const double time = wall_clock_seconds(), now = now_seconds();
  const std::vector<TimeShares> shares = divide_waits(samples, spec_.grid, spec_.planned);
  std::vector<RankRow> rows;
  TimeShares sum{.busy = 0};
  for (std::size_t r = 0; r < samples.size(); ++r) {
    const auto rank = static_cast<std::int64_t>(r);
    rows.push_back({.time = time,
                    .rank = rank,
                    .replica = rank / spec_.grid.stages,
                    .stage = rank % spec_.grid.stages,
                    .host = spec_.hosts[r],
                    .sample = samples[r],
                    .shares = samples[r].has_waits ? std::optional(shares[r]) : std::nullopt});
    log_.add(json_row(rows.back(), spec_.has_sensors), now);
    for (const NamedShare& part : kTimeShares)
      sum.*part.share += shares[r].*part.share / static_cast<double>(samples.size());
  }
  ranks_.add(rows);
  log_.write_rows();
  std::vector<Scalar> scalars;
  for (const NamedShare& part : kTimeShares) scalars.push_back({std::string("time/") + part.name, sum.*part.share});
  if (std::ranges::all_of(samples, &RankSample::has_waits)) add_scalars(samples.front().step, time, scalars, now);
  if (!slow_) return;
  for (const SlowRank& slow : slow_->add(samples)) log_warning(describe(slow));
}

std::string LiveFiles::describe(const SlowRank& slow) const {
  const auto rank = static_cast<std::size_t>(slow.rank);
  return fmt::format(
      "rank {} on {} (replica {}, stage {}) is slow: its part of a step takes {} ms, {:.0f} % more than {}", slow.rank,
      spec_.hosts[rank], slow.rank / spec_.grid.stages, slow.rank % spec_.grid.stages,
      plain_number(1e3 * slow.busy_seconds, 3), 100 * slow.excess(),
      slow.by_plan ? "the plan expects from the times of the other stages" : "the same stage of other replicas");
}

std::vector<std::string> LiveFiles::describe_slow_ranks() const {
  std::vector<std::string> lines;
  if (slow_)
    for (const SlowRank& slow : slow_->named()) lines.push_back(describe(slow));
  return lines;
}

void LiveFiles::add_end(std::int64_t step, const std::string& how) {
  has_ended_ = true;
  log_.add(JsonRow("end", wall_clock_seconds(), step).add("how", how), now_seconds());
  write_rows();
}

void LiveFiles::add_scalars(std::int64_t step, double time, const std::vector<Scalar>& scalars, double now) {
  if (events_) events_->add(step, time, scalars, now);
}

void LiveFiles::write_rows() {
  log_.write_rows();
  if (events_) events_->flush();
}

}  // namespace convoy
