/// Plans and simulates every layout, and sorts them. For the parts of a step, simulates it with all costs, then without
/// exchanges, then also without messages.
#include "plan/planner.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <tuple>

#include "convoy/base/error.h"
#include "convoy/base/grid_shape.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/params/choices.h"
#include "convoy/params/parameters.h"

#include "plan/machine_costs.h"

namespace convoy {

namespace {

constexpr double kNotWorthNaming = 0.01;  // share of a step
constexpr double kTripsOfCopy = 2;        // read and written

constexpr SimulationOptions kWithoutSpans{.zero_buffering = true, .keep_spans = false};

Simulation simulate_step(const StepPlan& plan, const PipelineCosts& costs) {
  return simulate(plan.training_schedule(plan.busiest_replica()), costs, kWithoutSpans);
}

PipelineCosts without_exchange(PipelineCosts costs) {
  for (ChunkCost& chunk : costs.chunks)
    for (BucketCost& bucket : chunk.buckets) bucket.reduce_seconds = bucket.gather_seconds = 0;
  return costs;
}

PipelineCosts without_messages(PipelineCosts costs) {
  costs.agree_seconds = 0;
  for (ChunkCost& chunk : costs.chunks) chunk.to_next.latency_seconds = 0, chunk.to_next.size_bytes = 0;
  return costs;
}

// The size of all parameters and of the optimizer's values for each of them.
double checkpoint_bytes(const StepPlan& plan) {
  double floats = 0;
  for (const StagePlan& stage : plan.stages()) floats += static_cast<double>(stage.layout.count);
  return floats * static_cast<double>(kFloatBytes * (1 + plan.num_states()));
}

// Mean time per step: each rank copies what it owns and, if the steps in between are faster than the disk, waits for
// it.
double checkpoint_seconds(const StepPlan& plan, const StepConditions& conditions, double step_seconds) {
  if (conditions.disk_bytes_per_second <= 0 || conditions.steps_per_checkpoint <= 0) return 0;
  const auto steps = static_cast<double>(conditions.steps_per_checkpoint);
  const double bytes = checkpoint_bytes(plan);
  const auto ranks = static_cast<double>(plan.grid().stages * plan.grid().replicas);
  const double copy = kTripsOfCopy * bytes / ranks / plan.machine().rates.memory_bytes_per_second;
  const double write = bytes / conditions.disk_bytes_per_second;
  return (copy + std::max(0.0, write - steps * step_seconds)) / steps;
}

// Returns the key that a refusal is about, with which its message begins.
std::string reason_of(const RequestError& error) {
  const std::string message = error.what();
  return message.substr(0, message.find(' '));
}

Prediction predict(const RuntimeSpec& runtime, const GridShape& grid, const StepConditions& conditions) {
  const StepPlan plan(runtime, grid);
  Prediction prediction{.layout = {.grid = grid,
                                   .micro = runtime.batch.micro,
                                   .schedule = runtime.schedule,
                                   .recompute = runtime.memory.recompute},
                        .parts = predict_parts(plan, conditions)};
  prediction.samples_per_second = static_cast<double>(runtime.batch.global) / prediction.step_seconds();
  for (std::int64_t s = 0; s < grid.stages; ++s)
    prediction.memory_bytes = std::max(prediction.memory_bytes, plan.memory_of(s).total());
  return prediction;
}

// One rank trains with as many samples per step as a rank of the layout has in the mean. Returns 0 if that is not a
// whole number of micro-batches, or does not fit its memory.
double samples_per_second_alone(const LayoutComparisonSpec& spec, const Layout& fastest) {
  RuntimeSpec runtime = spec.runtime;
  runtime.batch = {.global = spec.runtime.batch.global / spec.ranks, .micro = fastest.micro};
  runtime.network.micro_batch = fastest.micro;
  runtime.machine = spec.machines.at(fastest.micro);
  runtime.memory.recompute = fastest.recompute;
  runtime.chunks = 1;
  if (runtime.batch.global < runtime.batch.micro || runtime.batch.global % runtime.batch.micro != 0) return 0;
  try {
    return predict(runtime, {.stages = 1, .replicas = 1}, {}).samples_per_second;
  } catch (const RequestError&) {
    return 0;
  }
}

// Returns the parts that every table shows, and those of the others that are not 0 for at least one layout.
std::vector<NamedPart> shown_parts(const LayoutComparison& comparison) {
  constexpr std::size_t kAlwaysShown = 4;
  std::vector<NamedPart> shown(kStepParts.begin(), kStepParts.begin() + kAlwaysShown);
  for (const NamedPart& part : std::span(kStepParts).subspan(kAlwaysShown))
    if (std::ranges::any_of(comparison.predictions, [&](const Prediction& p) { return p.parts.*part.seconds > 0; }))
      shown.push_back(part);
  return shown;
}

}  // namespace

double StepParts::total() const {
  double sum = 0;
  for (const NamedPart& part : kStepParts) sum += this->*part.seconds;
  return sum;
}

std::string StepParts::limit() const {
  const auto* const largest =
      std::max_element(kStepParts.begin() + 1, kStepParts.end(),
                       [this](const NamedPart& a, const NamedPart& b) { return this->*a.seconds < this->*b.seconds; });
  return this->*(largest->seconds) > kNotWorthNaming * total() ? largest->name : kStepParts.front().name;
}

StepConditions step_conditions(const Parameters& params, std::int64_t steps_per_epoch) {
  const PlanParams& plan = params.plan;
  const CheckpointParams& checkpoint = params.checkpoint;
  return {.spread = plan.spread_percent / 100,
          .loader_samples_per_second = plan.loader_samples_s,
          .disk_bytes_per_second = 1e9 * plan.disk_gb_s,
          .steps_per_checkpoint = checkpoint.every_steps > 0
                                      ? checkpoint.every_steps
                                      : std::llround(checkpoint.every_epochs * static_cast<double>(steps_per_epoch))};
}

StepParts predict_parts(const StepPlan& plan, const StepConditions& conditions) {
  const PipelineCosts costs = plan.costs(), no_exchange = without_exchange(costs);
  const double whole = simulate_step(plan, costs).step_seconds;
  const double alone = simulate_step(plan, no_exchange).step_seconds;
  const Simulation free = simulate_step(plan, without_messages(no_exchange));
  StepParts parts;
  for (const StageTimes& stage : free.stages)
    parts.arithmetic += stage.busy_seconds / static_cast<double>(plan.grid().stages);
  parts.bubble = std::max(0.0, free.step_seconds - parts.arithmetic);
  // Events in another order can make a step a little longer without a message than with it.
  parts.messages = std::max(0.0, alone - parts.arithmetic - parts.bubble);
  parts.exchange = std::max(0.0, whole - parts.arithmetic - parts.bubble - parts.messages);
  const std::int64_t ranks = plan.grid().stages * plan.grid().replicas;
  parts.stragglers = conditions.spread * expected_max_of_normals(ranks) * parts.total();
  if (conditions.loader_samples_per_second > 0) {
    const std::int64_t samples = plan.micro_batches_of(plan.busiest_replica()).size() * plan.spec().batch.micro;
    const double loading = static_cast<double>(samples) / conditions.loader_samples_per_second;
    parts.loading = std::max(0.0, loading - parts.total());
  }
  parts.checkpoints = checkpoint_seconds(plan, conditions, parts.total());
  return parts;
}

Simulation predict_step(const StepPlan& plan) {
  return simulate_step(plan, plan.costs());
}

double predict_evaluation(const StepPlan& plan, const MachineCosts& machine, std::int64_t num_steps) {
  const Schedule schedule = plan.evaluation_schedule(plan.busiest_replica(), num_steps);
  return simulate(schedule, plan.evaluation_costs(machine), kWithoutSpans).step_seconds /
         static_cast<double>(num_steps);
}

double predict_audit_seconds(const StepPlan& plan) {
  std::int64_t bytes = 0;  // parameters and optimizer state twice, gradients twice
  for (std::int64_t s = 0; s < plan.grid().stages; ++s) {
    const StageMemory memory = plan.memory_of(s);
    bytes = std::max(bytes, 4 * memory.parameters + 2 * memory.optimizer_state);
  }
  return simulate(plan.audit_schedule(), plan.costs(), kWithoutSpans).step_seconds +
         static_cast<double>(bytes) / plan.machine().rates.memory_bytes_per_second;
}

LayoutComparison compare_layouts(const LayoutComparisonSpec& spec) {
  LayoutComparison comparison{.ranks = spec.ranks, .kind = kind_of(spec.runtime.network.input)};
  const auto try_one = [&](const RuntimeSpec& runtime, std::int64_t stages) {
    ++comparison.num_tried;
    try {
      comparison.predictions.push_back(
          predict(runtime, {.stages = stages, .replicas = spec.ranks / stages}, spec.conditions));
    } catch (const RequestError& error) {
      ++comparison.refused[reason_of(error)];
    }
  };
  for (const std::int64_t stages : spec.stages > 0 ? std::vector{spec.stages} : divisors(spec.ranks)) {
    for (const auto& [micro, machine] : spec.machines) {
      RuntimeSpec runtime = spec.runtime;
      runtime.batch.micro = runtime.network.micro_batch = micro;
      runtime.machine = machine;
      for (const ScheduleKind schedule : spec.schedules) {
        if (stages == 1 && schedule != spec.schedules.front()) continue;
        for (const RecomputeKind recompute : spec.recomputes) {
          runtime.schedule = schedule;
          runtime.chunks = traits_of(schedule).has_chunks ? spec.chunks : 1;
          runtime.memory.recompute = recompute;
          try_one(runtime, stages);
        }
      }
    }
  }
  const auto order = [](const Prediction& p) { return std::tuple(p.step_seconds(), p.memory_bytes); };
  std::stable_sort(comparison.predictions.begin(), comparison.predictions.end(),
                   [&](const Prediction& a, const Prediction& b) { return order(a) < order(b); });
  if (!comparison.predictions.empty())
    comparison.alone_samples_per_second = samples_per_second_alone(spec, comparison.predictions.front().layout);
  return comparison;
}

std::string describe(const LayoutComparison& comparison, std::int64_t max_rows) {
  std::string text =
      fmt::format("{}: {} tried", counted(comparison.ranks, "rank"), counted(comparison.num_tried, "layout"));
  const char* separator = "; not possible: ";
  for (const auto& [key, num] : comparison.refused) {
    text += fmt::format("{}{} ({})", separator, num, key);
    separator = ", ";
  }
  text += "\n";
  if (comparison.predictions.empty())
    return text + "  none of them can train: change the keys that are named above, or the number of ranks\n";
  const std::string compared = comparison.alone_samples_per_second > 0
                                   ? fmt::format("{:.1f} % of {} times the speed of one rank alone",
                                                 100 * efficiency(comparison), comparison.ranks)
                                   : "not compared with one rank alone: its share of batch.global is not a whole "
                                     "number of micro-batches, or does not fit into its memory";
  text += fmt::format("  the fastest: {} {}s/s, {}\n", plain_number(comparison.predictions.front().samples_per_second),
                      input_kinds::one_of(comparison.kind), compared);
  const std::vector<NamedPart> parts = shown_parts(comparison);
  text += fmt::format("    {:>14}  {:>6}  {:<12}{:<10}{:>12}{:>12}", "stages x repl.", "micro", "schedule", "recompute",
                      "step", fmt::format("{}s/s", input_kinds::one_of(comparison.kind)));
  for (const NamedPart& part : parts) text += fmt::format("{:>13}", part.name);
  text += fmt::format("{:>17}  {}\n", "memory per rank", "limited by");
  const std::int64_t shown = std::min(max_rows, std::ssize(comparison.predictions));
  for (std::int64_t i = 0; i < shown; ++i) {
    const Prediction& p = comparison.predictions[i];
    text += fmt::format("  {} {:>14}  {:>6}  {:<12}{:<10}{:>9} ms{:>12}", i == 0 ? '*' : ' ',
                        fmt::format("{} x {}", p.layout.grid.stages, p.layout.grid.replicas), p.layout.micro,
                        p.layout.grid.stages == 1 ? "-" : name_of(p.layout.schedule), name_of(p.layout.recompute),
                        plain_number(1e3 * p.step_seconds()), plain_number(p.samples_per_second));
    for (const NamedPart& part : parts)
      text += fmt::format("{:>11.1f} %", 100 * p.parts.*part.seconds / p.step_seconds());
    text += fmt::format("{:>17}  {}\n", human_bytes(p.memory_bytes), p.parts.limit());
  }
  return text;
}

double efficiency(const LayoutComparison& comparison) {
  if (comparison.predictions.empty() || comparison.alone_samples_per_second <= 0) return 0;
  return comparison.predictions.front().samples_per_second /
         (static_cast<double>(comparison.ranks) * comparison.alone_samples_per_second);
}

}  // namespace convoy
