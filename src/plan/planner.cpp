/// Plans and simulations of every layout, sorted.
#include "plan/planner.h"

#include <algorithm>
#include <tuple>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/params/parameters.h"

namespace convoy {

namespace {

// What a refusal is about: its message begins with the key.
std::string reason_of(const RequestError& error) {
  const std::string message = error.what();
  return message.substr(0, message.find(' '));
}

Prediction predict(const RuntimeSpec& runtime, const GridShape& grid) {
  const StepPlan plan(runtime, grid);
  const Simulation simulation = predict_step(plan);
  Prediction prediction{.layout = {.grid = grid,
                                   .micro = runtime.batch.micro,
                                   .schedule = runtime.schedule,
                                   .recompute = runtime.memory.recompute},
                        .step_seconds = simulation.step_seconds};
  prediction.samples_per_second = static_cast<double>(runtime.batch.global) / simulation.step_seconds;
  const double all_seconds = simulation.step_seconds * static_cast<double>(grid.stages);
  for (const StageTimes& times : simulation.stages) {
    prediction.bubble += times.bubble_seconds / all_seconds;
    prediction.communication += times.communication_seconds / all_seconds;
  }
  for (std::int64_t s = 0; s < grid.stages; ++s)
    prediction.memory_bytes = std::max(prediction.memory_bytes, plan.memory_of(s).total());
  return prediction;
}

}  // namespace

Simulation predict_step(const StepPlan& plan) {
  return simulate(plan.training_schedule(plan.busiest_replica()), plan.costs(),
                  {.zero_buffering = true, .keep_spans = false});
}

double predict_evaluation(const StepPlan& plan, const MachineCosts& machine, std::int64_t num_steps) {
  return simulate(plan.evaluation_schedule(plan.busiest_replica(), num_steps), plan.evaluation_costs(machine),
                  {.zero_buffering = true, .keep_spans = false})
             .step_seconds /
         static_cast<double>(num_steps);
}

double predict_audit_seconds(const StepPlan& plan) {
  std::int64_t bytes = 0;  // what is kept twice, gradients twice
  for (std::int64_t s = 0; s < plan.grid().stages; ++s) {
    const StageMemory memory = plan.memory_of(s);
    bytes = std::max(bytes, 4 * memory.parameters + 2 * memory.optimizer_state);
  }
  return simulate(plan.audit_schedule(), plan.costs(), {.zero_buffering = true, .keep_spans = false}).step_seconds +
         static_cast<double>(bytes) / plan.machine().rates.memory_bytes_per_second;
}

Comparison compare_layouts(const ComparisonSpec& spec) {
  Comparison comparison{.ranks = spec.ranks, .kind = kind_of(spec.runtime.network.input)};
  const auto try_one = [&](const RuntimeSpec& runtime, std::int64_t stages) {
    ++comparison.num_tried;
    try {
      comparison.predictions.push_back(predict(runtime, {.stages = stages, .replicas = spec.ranks / stages}));
    } catch (const RequestError& error) {
      ++comparison.refused[reason_of(error)];
    }
  };
  for (const std::int64_t stages : divisors(spec.ranks)) {
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
  const auto order = [](const Prediction& p) { return std::tuple(p.step_seconds, p.memory_bytes); };
  std::stable_sort(comparison.predictions.begin(), comparison.predictions.end(),
                   [&](const Prediction& a, const Prediction& b) { return order(a) < order(b); });
  return comparison;
}

std::string describe(const Comparison& comparison, std::int64_t max_rows) {
  std::string text = fmt::format("{} rank{}: {} layouts tried", comparison.ranks, comparison.ranks == 1 ? "" : "s",
                                 comparison.num_tried);
  const char* separator = "; refused: ";
  for (const auto& [key, num] : comparison.refused) {
    text += fmt::format("{}{} by {}", separator, num, key);
    separator = ", ";
  }
  text += "\n";
  if (comparison.predictions.empty())
    return text + "  none of them can train: change the keys that refuse them, or the number of ranks\n";
  text += fmt::format("    {:>14}  {:>6}  {:<12}{:<10}{:>12}{:>12}{:>9}{:>15}{:>17}\n", "stages x repl.", "micro",
                      "schedule", "recompute", "step", fmt::format("{}s/s", input_kinds::one_of(comparison.kind)),
                      "bubble", "communication", "memory per rank");
  const std::int64_t shown = std::min(max_rows, std::ssize(comparison.predictions));
  for (std::int64_t i = 0; i < shown; ++i) {
    const Prediction& p = comparison.predictions[i];
    text += fmt::format("  {} {:>14}  {:>6}  {:<12}{:<10}{:>9.4g} ms{:>12.4g}{:>7.1f} %{:>13.1f} %{:>17}\n",
                        i == 0 ? '*' : ' ', fmt::format("{} x {}", p.layout.grid.stages, p.layout.grid.replicas),
                        p.layout.micro, p.layout.grid.stages == 1 ? "-" : name_of(p.layout.schedule),
                        name_of(p.layout.recompute), 1e3 * p.step_seconds, p.samples_per_second, 100 * p.bubble,
                        100 * p.communication, human_bytes(p.memory_bytes));
  }
  return text;
}

}  // namespace convoy
