/// Chooses the number of stages and the schedule by one comparison of the planner.
#include "calibrate/run_layout.h"

#include <algorithm>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/wording.h"
#include "convoy/params/parameters.h"

#include "calibrate/calibration.h"
#include "plan/batch_norm_check.h"
#include "plan/planner.h"

namespace convoy {

namespace {

std::string shown(const Prediction& prediction) {
  const Layout& layout = prediction.layout;
  const std::string schedule = layout.grid.stages > 1 ? fmt::format(" {}", name_of(layout.schedule)) : "";
  return fmt::format("{} x {}{} {} ms", layout.grid.stages, layout.grid.replicas, schedule,
                     plain_number(1e3 * prediction.step_seconds()));
}

// The least speedup for which another schedule than 1f1b is chosen, and the most memory that it may take, both relative
// to 1f1b. Smaller speedups are not worth the messages, and may not be real: predictions err by some percent.
constexpr double kMinGain = 1.05, kMaxMoreMemory = 1.5;

// Compares layouts with the micro-batch and the recomputing of the parameters. `stages` = 0 compares all numbers.
LayoutComparison compare(const Parameters& params, const RuntimeSpec& runtime, const MachineCosts& machine,
                         std::int64_t ranks, std::int64_t stages) {
  std::vector<ScheduleKind> schedules = {ScheduleKind::k1F1B, ScheduleKind::kZeroBubble};
  if (!runtime.on_gpu) schedules.push_back(ScheduleKind::kInterleaved);  // needs NCCL links for each chunk
  if (params.schedule.kind) schedules = {*params.schedule.kind};
  return compare_layouts({.runtime = runtime,
                          .ranks = ranks,
                          .stages = stages,
                          .machines = {{runtime.batch.micro, machine}},
                          .schedules = schedules,
                          .chunks = params.schedule.chunks,
                          .recomputes = {runtime.memory.recompute}});
}

// Returns the fastest layout; with schedule.kind = auto the fastest 1f1b layout unless another one is worth it.
const Prediction& best_of(const Parameters& params, const LayoutComparison& comparison) {
  const Prediction& fastest = comparison.predictions.front();
  if (params.schedule.kind || fastest.layout.schedule == ScheduleKind::k1F1B) return fastest;
  const auto usual = std::ranges::find_if(comparison.predictions,
                                          [](const Prediction& p) { return p.layout.schedule == ScheduleKind::k1F1B; });
  if (usual == comparison.predictions.end()) return fastest;
  const auto worth_it = std::ranges::find_if(comparison.predictions, [&](const Prediction& p) {
    return static_cast<double>(p.memory_bytes) <= kMaxMoreMemory * static_cast<double>(usual->memory_bytes);
  });
  return usual->step_seconds() > kMinGain * worth_it->step_seconds() ? *worth_it : *usual;
}

std::int64_t chunks_of(const Parameters& params, ScheduleKind schedule) {
  return traits_of(schedule).has_chunks ? params.schedule.chunks : 1;
}

void take_best(const Parameters& params, const LayoutComparison& comparison, RunLayout& layout) {
  if (comparison.predictions.empty()) {
    std::string reasons;
    for (const auto& [key, num] : comparison.refused)
      reasons += fmt::format("{}{} by {}", reasons.empty() ? "" : ", ", num, key);
    refuse(
        "grid.stages = auto: none of the {} layouts of {} ranks can train (refused: {}). convoy plan --plan.ranks={} "
        "shows them.",
        comparison.num_tried, comparison.ranks, reasons, comparison.ranks);
  }
  const Prediction& best = best_of(params, comparison);
  layout.stages = best.layout.grid.stages;
  layout.schedule = best.layout.schedule;
  layout.chunks = chunks_of(params, layout.schedule);
  constexpr std::size_t kShown = 4;
  layout.reason = fmt::format("grid.stages = auto: chosen layout (stages x replicas, predicted step{}): ",
                              layout.machine ? "" : " by a model, because plan.measure = false");
  for (std::size_t i = 0; i < std::min(kShown, comparison.predictions.size()); ++i)
    layout.reason += fmt::format("{}{}", i == 0 ? "" : i == 1 ? "; others: " : ", ", shown(comparison.predictions[i]));
}

// Returns the number of stages if the parameters decide it; 0 if it is to be chosen.
std::int64_t known_stages(const Parameters& params, std::int64_t ranks) {
  if (params.grid.stages > 0) return params.grid.stages;
  return params.grid.cuts.empty() && ranks > 1 ? 0 : std::ssize(params.grid.cuts) + 1;
}

// Returns the layout before predictions change it: the parts that the parameters decide, and defaults.
RunLayout known_layout(const Parameters& params, const RuntimeSpec& runtime, std::int64_t ranks) {
  return {.stages = known_stages(params, ranks), .schedule = runtime.schedule, .chunks = runtime.chunks};
}

MachineCosts known_or_modelled(const RuntimeSpec& runtime) {
  return runtime.machine ? *runtime.machine : model_machine_costs(make_network(runtime.network));
}

void choose(const Parameters& params, std::int64_t ranks, RuntimeSpec& runtime, RunLayout& layout) {
  runtime.machine = layout.machine;
  if (layout.stages == 0)
    return take_best(params, compare(params, runtime, known_or_modelled(runtime), ranks, 0), layout);
  choose_schedule(params, grid_shape(layout.stages, ranks), runtime);
  layout.schedule = runtime.schedule;
  layout.chunks = runtime.chunks;
}

}  // namespace

void choose_schedule(const Parameters& params, const GridShape& grid, RuntimeSpec& runtime) {
  if (params.schedule.kind || grid.stages == 1) return;
  const LayoutComparison comparison =
      compare(params, runtime, known_or_modelled(runtime), grid.stages * grid.replicas, grid.stages);
  if (comparison.predictions.empty()) return;  // the plan with 1f1b will report why
  runtime.schedule = best_of(params, comparison).layout.schedule;
  runtime.chunks = chunks_of(params, runtime.schedule);
}

GridShape requested_grid(const Parameters& params, std::int64_t ranks) {
  if (params.model.file.empty()) check_network_name(params.model.name);
  return grid_shape(std::max<std::int64_t>(1, params.grid.stages), ranks);
}

RunLayout choose_layout(const Parameters& params, const io::ModelMetadata& metadata, const mpi::Communicator& world,
                        ops::Backend& backend) {
  RuntimeSpec runtime = runtime_spec(params, metadata);
  RunLayout layout = known_layout(params, runtime, world.size());
  if (layout.stages > 0) grid_shape(layout.stages, world.size());
  if (world.size() == 1) return layout;
  runtime.on_gpu = !backend.device().is_host();
  // A run that would be refused is refused before anything is measured.
  if (layout.stages > 0) StepPlan(runtime, grid_shape(layout.stages, world.size()));
  if (layout.stages == 0) check_batch_norms(make_network(runtime.network), runtime.network);
  if (params.plan.measure)
    layout.machine = find_machine_costs(calibration_spec(runtime.network, params.run, world, backend), world, backend);
  choose(params, world.size(), runtime, layout);
  for (std::int64_t* chosen : {&layout.stages, &layout.chunks})  // rank 0's rounding decides between equal ones
    world.broadcast(chosen, sizeof *chosen, 0);
  world.broadcast(&layout.schedule, sizeof layout.schedule, 0);
  return layout;
}

RunLayout choose_layout(const Parameters& params, const io::ModelMetadata& metadata, std::int64_t ranks, bool on_gpu,
                        const MachineCosts& machine) {
  RuntimeSpec runtime = runtime_spec(params, metadata);
  RunLayout layout = known_layout(params, runtime, ranks);
  layout.machine = machine;
  runtime.on_gpu = on_gpu;
  if (layout.stages > 0) grid_shape(layout.stages, ranks);
  if (layout.stages == 0) check_batch_norms(make_network(runtime.network), runtime.network);
  choose(params, ranks, runtime, layout);
  return layout;
}

}  // namespace convoy
