/// Writes the tables, the progress bar and the lines of a run.
#include "run/report.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/params/parameters.h"
#include "convoy/params/parse.h"

#include "plan/planner.h"

namespace convoy {

namespace {

// "3", "0 and 2", "0 to 15", "0, 4, ..., 28": a stage's ranks are as far apart as there are stages.
std::string ranks_of(const GridShape& grid, std::int64_t stage) {
  if (grid.replicas == 1) return fmt::format("{}", stage);
  const std::int64_t last = (grid.replicas - 1) * grid.stages + stage;
  if (grid.replicas == 2) return fmt::format("{} and {}", stage, last);
  if (grid.stages == 1) return fmt::format("{} to {}", stage, last);
  return fmt::format("{}, {}, {}{}", stage, stage + grid.stages, grid.replicas == 3 ? "" : "..., ", last);
}

// Returns GFLOP per sample, forward and backward.
double gigaflop_a_sample(const Network& network, const std::vector<CellRange>& runs) {
  double flop = 0;
  for (const CellRange& cells : runs)
    for (std::int64_t i = cells.begin; i < cells.end; ++i)
      flop += network[i]->memory().forward_flop() + network[i]->memory().backward_flop();
  return flop / static_cast<double>(network.front()->x().shape.n) / 1e9;
}

std::string describe_stages(const StepPlan& plan) {
  std::vector<std::string> ranks, cells;
  std::size_t ranks_width = 16, width = 20;
  for (std::int64_t s = 0; s < plan.grid().stages; ++s) {
    ranks.push_back(ranks_of(plan.grid(), s));
    cells.push_back(cell_names(plan.network(), plan.stages()[s].layout.cells()));
    ranks_width = std::max(ranks_width, ranks.back().size() + 2);
    width = std::max(width, cells.back().size());
  }
  constexpr const char* kRow = "  {:<7}{:<{}}{:<{}}{:>14}{:>18}{:>17}\n";
  std::string text = fmt::format(kRow, "stage", "ranks", ranks_width, "cells", width, "parameters", "GFLOP per sample",
                                 "memory per rank");
  for (std::int64_t s = 0; s < plan.grid().stages; ++s) {
    const ArenaLayout& layout = plan.stages()[s].layout;
    std::int64_t parameters = 0;
    for (const ArenaEntry& entry : layout.entries)
      if (!entry.spec.is_statistic()) parameters += entry.spec.count();
    text += fmt::format(kRow, s, ranks[s], ranks_width, cells[s], width, human_count(parameters),
                        plain_number(gigaflop_a_sample(plan.network(), layout.cells()), 3),
                        human_bytes(plan.memory_of(s).total()));
  }
  return text;
}

// Returns "4 micro-batches", or "2 or 3 micro-batches" if replicas have unequal shares.
std::string shares(const StepPlan& plan) {
  const std::int64_t max = plan.micro_batches_of(plan.busiest_replica()).size();
  const std::int64_t min = plan.micro_batches_per_step() / plan.grid().replicas;
  return (min == max ? "" : fmt::format("{} or ", min)) + counted(max, "micro-batch");
}

// "1f1b", "interleaved, 2 chunks per stage".
std::string schedule_name(const StepPlan& plan) {
  const std::string name = name_of(plan.schedule_kind());
  return plan.num_chunks() == 1 ? name : fmt::format("{}, {} chunks per stage", name, plan.num_chunks());
}

std::string shown_loss(double loss) {
  return metric(MetricKind::kLoss).shown(loss);
}

std::string shown_top1(const StepMetrics& counted) {
  return metric(MetricKind::kTop1).shown(metrics::top1(counted.counts()));
}

// "masked words 5.4000  21.30 %, next sentence 0.7000  52.10 %"
std::string shown_objectives(const StepMetrics& metrics, const MetricList& list) {
  std::string text;
  std::int64_t objective = -1;
  for (const NetworkMetric& metric : list.of_objectives()) {
    if (metric.objective != objective) text += fmt::format("{}{}", text.empty() ? "" : ", ", metric.objective_name());
    text += fmt::format("{}{}", metric.objective == objective ? "  " : " ", metric.shown(metrics));
    objective = metric.objective;
  }
  return text;
}

// Returns "  macro F1 0.8123"; empty if the chosen metric is always shown anyway, or was not computed.
std::string shown_choice(const StepMetrics& metrics, const MetricList& list) {
  const NetworkMetric& chosen = list.chosen();
  if (chosen.metric->min_outputs == 0 || !metrics.has_scores()) return "";
  return fmt::format("  {} {}", chosen.title, chosen.shown(metrics));
}

// Returns "loss 0.3021  top-1 88.20 %", for the names "loss" and "top-1 ", with the losses of several objectives in
// parentheses. Without top-1, as for numbers: "loss 0.3021  RMSE 0.52".
std::string shown_all(const StepMetrics& metrics, const MetricList& list, const char* loss_name,
                      const char* top1_name) {
  const std::string loss = fmt::format("{} {}", loss_name, shown_loss(metrics.mean_loss()));
  if (!list.of_objectives().empty()) return fmt::format("{} ({})", loss, shown_objectives(metrics, list));
  const std::string top1 = list.has_top1() ? fmt::format("  {}{}", top1_name, shown_top1(metrics)) : "";
  return loss + top1 + shown_choice(metrics, list);
}

// Returns the speed as text; empty if no step was measured.
std::string shown_rate(double samples_per_second, const std::string& kind) {
  if (samples_per_second <= 0) return "";
  return fmt::format("  {:.0f} {}s/s", samples_per_second, input_kinds::one_of(kind));
}

// "16x16x3", "of at most 128 tokens, a vocabulary of 20000", "of spectrum (1024), position (3)"
std::string describe_input(const InputShape& input) {
  if (std::holds_alternative<ArrayShapes>(input)) return "of " + to_string(input);
  const auto* text = std::get_if<TextShape>(&input);
  return text ? fmt::format("of at most {}, a vocabulary of {}", counted(text->length, "token"), text->vocabulary)
              : to_string(input);
}

// "10 classes", "1 label", "3 numbers", "2 numbers at each of 64 x 64 pixels"
std::string count_of_outputs(const io::DatasetInfo& data) {
  const TargetKind kind = data.target.kind;
  return counted(std::ssize(data.class_names), kind == TargetKind::kClass    ? "class"
                                               : kind == TargetKind::kLabels ? "label"
                                                                             : "number") +
         io::describe_place(data.target);
}

// Describes the samples that remain because they are too few for one more step.
std::string describe_rest(std::int64_t rest, const DataParams& data) {
  if (rest == 0) return "";
  const std::string left_out =
      fmt::format("{} {} left out of each epoch", counted(rest, "sample"), rest == 1 ? "is" : "are");
  const char* const different = rest == 1 ? "a different one each time" : "different ones each time";
  const char* const last =
      rest == 1 ? "always the last one (data.shuffle = false)" : "always the last ones (data.shuffle = false)";
  return fmt::format("; {}: {}", left_out, data.shuffle ? different : last);
}

// Returns "learning rate: x 0.1 for 11.2 M parameters, x 10 for 5.13 k, x 1 for 1.2 k"; empty if all have the same.
std::string describe_rates(const OptimizerParams& optimizer, const Network& network) {
  if (optimizer.groups.empty()) return "";
  std::map<double, std::int64_t> counts;
  for (const auto& cell : network)
    for (const auto& entry : cell->memory().parameters())
      if (entry.spec.is_trained()) counts[entry.spec.rate_factor] += entry.spec.count();
  std::vector<std::string> parts;
  for (const auto& [factor, count] : counts)
    parts.push_back(fmt::format("x {} for {} parameters", factor, human_count(count)));
  return fmt::format("learning rate: {}\n", fmt::join(parts, ", "));
}

// Describes the audits; empty if there are none.
std::string describe_audits(const StepPlan& plan) {
  const std::int64_t every = plan.spec().run.audit_every;
  if (every == 0) return "";
  const double seconds = predict_audit_seconds(plan);
  const double share = seconds / (static_cast<double>(every) * predict_step(plan).step_seconds + seconds);
  return fmt::format("audit: every {}, {} s more each time, {} % of the time\n", counted(every, "step"),
                     plain_number(seconds, 3), plain_number(100 * share, 2));
}

}  // namespace

std::string describe_work(const Parameters& params, const RuntimeSpec& spec, const io::DatasetInfo& data) {
  const Network network = make_network(spec.network);
  const std::int64_t frozen = count_frozen_parameters(network);
  std::string part = params.data.fold == 0 ? "" : fmt::format("; data.fold = {}", params.data.fold);
  if (params.data.limit != SampleLimit{}) part += fmt::format("; data.limit = {}", shown_value("data.limit", params));
  return fmt::format("{}: {} parameters{}; {} {}, {}{}\n", spec.network.name, human_count(count_parameters(network)),
                     frozen > 0 ? fmt::format(", {} of them frozen", human_count(frozen)) : "",
                     data.num_samples > 0 ? counted(data.num_samples, "training sample") : "samples",
                     describe_input(spec.network.input), count_of_outputs(data), part) +
         describe_rates(params.optimizer, network) +
         fmt::format("step: {} = {} of {}\n", counted(params.batch.global, "sample"),
                     counted(params.batch.global / params.batch.micro, "micro-batch"), params.batch.micro) +
         (data.num_samples == 0 ? ""
                                : fmt::format("epoch: {}{}\n", counted(data.num_samples / params.batch.global, "step"),
                                              describe_rest(data.num_samples % params.batch.global, params.data)));
}

std::string describe_layout(const StepPlan& plan, const std::string& device) {
  const GridShape& grid = plan.grid();
  return fmt::format("grid: {} x {} = {}; {} per step on each replica; schedule {}; {}\n",
                     counted(grid.stages, "stage"), counted(grid.replicas, "replica"), counted(grid.ranks(), "rank"),
                     shares(plan), schedule_name(plan), device) +
         describe_audits(plan) + describe_stages(plan);
}

std::string describe_bound_bits(const StepPlan& plan) {
  if (plan.is_invariant()) return "";
  return fmt::format(
      "{0} micro-batches per step on {1} replicas{2}: only runs with {1} replicas will give the same bits",
      plan.micro_batches_per_step(), plan.grid().replicas,
      plan.spec().run.reduction == ReductionKind::kFast
          ? " with run.reduction = fast"
          : " do not give each replica an equal number that is a power of two");
}

void show(const ProgressPoint& point, const std::string& kind, ProgressLine& line) {
  const std::string head = fmt::format("epoch {}/{}", point.epoch, point.num_epochs);
  const std::string numbers =
      fmt::format("step {}/{}  loss {}{}{}", point.step, point.num_steps, shown_loss(point.loss),
                  shown_rate(point.samples_per_second, kind), shown_seconds_left(point.seconds_left));
  line.show(head, static_cast<double>(point.step) / static_cast<double>(std::max<std::int64_t>(1, point.num_steps)),
            numbers);
}

std::string describe_metrics(const StepMetrics& metrics, const MetricList& list) {
  if (metrics.num_samples() == 0) return "no loss: all steps were skipped";
  return shown_all(metrics, list, "loss", "top-1 ");
}

std::string describe_outputs(const StepMetrics& metrics, const MetricList& list) {
  std::vector<std::string> shown;
  for (const NetworkMetric& metric : list.of_outputs())
    if (metric.number < 0) shown.push_back(metric.title + " " + metric.shown(metrics));
  return fmt::format("{}{}{}", fmt::join(shown, ", "), shown.empty() ? "" : "\n", list.left_out());
}

std::string describe_epoch(const EpochRow& row, const std::string& kind, const MetricList& list,
                           std::int64_t num_epochs, double seconds_left) {
  const auto shown = [&](const char* name, const std::optional<StepMetrics>& metrics) {
    return metrics ? "  " + shown_all(*metrics, list, name, "") : "";
  };
  constexpr double kMinShown = 0.05;
  const auto seconds = [&](const char* what, double value) {
    return value < kMinShown ? "" : fmt::format("  {} {:.1f} s", what, value);
  };
  return fmt::format("epoch {}/{}  {}{}{}{}  data wait {:.1f} %{}{}{}", row.epoch, num_epochs,
                     describe_metrics(row.train, list), shown("val", row.val), shown("test", row.test),
                     shown_rate(row.samples_per_second, kind), row.data_wait_percent, seconds("save", row.save_seconds),
                     seconds("background write", row.write_seconds), shown_seconds_left(seconds_left));
}

}  // namespace convoy
