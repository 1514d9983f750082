/// Plans and simulations of every layout, sorted.
#include "train/planner.h"

#include <algorithm>
#include <tuple>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/params/names.h"

namespace convoy {

namespace {

// What a refusal is about: its message begins with the key.
std::string reason_of(const RequestError& error) {
  const std::string message = error.what();
  return message.substr(0, message.find(' '));
}

Prediction predict(const EngineSpec& engine, const GridShape& grid) {
  const StepPlan plan(engine, grid);
  const Simulation simulation = predict_step(plan);
  Prediction prediction{.layout = {.grid = grid,
                                   .micro = engine.batch.micro,
                                   .schedule = engine.schedule,
                                   .recompute = engine.memory.recompute},
                        .step_seconds = simulation.step_seconds};
  prediction.images_per_second = static_cast<double>(engine.batch.global) / simulation.step_seconds;
  const double all_seconds = simulation.step_seconds * static_cast<double>(grid.stages);
  for (const StageTimes& times : simulation.stages) {
    prediction.bubble += times.bubble_seconds / all_seconds;
    prediction.communication += times.communication_seconds / all_seconds;
  }
  for (std::int64_t s = 0; s < grid.stages; ++s)
    prediction.memory_bytes = std::max(prediction.memory_bytes, plan.memory_of(s).total());
  return prediction;
}

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> found;
  for (std::int64_t d = 1; d <= number; ++d)
    if (number % d == 0) found.push_back(d);
  return found;
}

}  // namespace

Simulation predict_step(const StepPlan& plan) {
  return simulate(plan.training_schedule(plan.busiest_replica()), plan.costs(),
                  {.zero_buffering = true, .keep_spans = false});
}

Comparison compare_layouts(const ComparisonSpec& spec) {
  Comparison comparison{.ranks = spec.ranks};
  const auto try_one = [&](const EngineSpec& engine, std::int64_t stages) {
    ++comparison.num_tried;
    try {
      comparison.predictions.push_back(predict(engine, {.stages = stages, .replicas = spec.ranks / stages}));
    } catch (const RequestError& error) {
      ++comparison.refused[reason_of(error)];
    }
  };
  for (const std::int64_t stages : divisors(spec.ranks)) {
    for (const auto& [micro, machine] : spec.machines) {
      EngineSpec engine = spec.engine;
      engine.batch.micro = engine.network.micro_batch = micro;
      engine.machine = machine;
      for (const ScheduleKind schedule : spec.schedules) {
        if (stages == 1 && schedule != spec.schedules.back()) continue;
        for (const RecomputeKind recompute : spec.recomputes) {
          engine.schedule = schedule;
          engine.chunks = schedule == ScheduleKind::kInterleaved ? spec.chunks : 1;
          engine.memory.recompute = recompute;
          try_one(engine, stages);
        }
      }
    }
  }
  const auto order = [](const Prediction& p) { return std::tuple(p.step_seconds, p.memory_bytes); };
  std::stable_sort(comparison.predictions.begin(), comparison.predictions.end(),
                   [&](const Prediction& a, const Prediction& b) { return order(a) < order(b); });
  return comparison;
}

std::string describe(const Comparison& comparison, std::int64_t most) {
  std::string text = fmt::format("{} rank{}: {} layouts tried", comparison.ranks, comparison.ranks == 1 ? "" : "s",
                                 comparison.num_tried);
  const char* separator = "; refused: ";
  for (const auto& [key, num] : comparison.refused) {
    text += fmt::format("{}{} by {}", separator, num, key);
    separator = ", ";
  }
  text += "\n";
  if (comparison.predictions.empty()) return text;
  text += fmt::format("    {:>14}  {:>6}  {:<12}{:<10}{:>12}{:>12}{:>9}{:>15}{:>15}\n", "stages x repl.", "micro",
                      "schedule", "recompute", "step", "images/s", "bubble", "communication", "memory a rank");
  const std::int64_t shown = std::min(most, std::ssize(comparison.predictions));
  for (std::int64_t i = 0; i < shown; ++i) {
    const Prediction& p = comparison.predictions[i];
    text += fmt::format("  {} {:>14}  {:>6}  {:<12}{:<10}{:>9.4g} ms{:>12.4g}{:>7.1f} %{:>13.1f} %{:>15}\n",
                        i == 0 ? '*' : ' ', fmt::format("{} x {}", p.layout.grid.stages, p.layout.grid.replicas),
                        p.layout.micro, p.layout.grid.stages == 1 ? "-" : name_of(p.layout.schedule),
                        name_of(p.layout.recompute), 1e3 * p.step_seconds, p.images_per_second, 100 * p.bubble,
                        100 * p.communication, human_bytes(p.memory_bytes));
  }
  return text;
}

}  // namespace convoy
