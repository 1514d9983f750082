/// One comparison by the planner, of the numbers of stages.
#include "calibrate/run_layout.h"

#include <algorithm>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/model/partition.h"

#include "calibrate/calibration.h"
#include "plan/planner.h"

namespace convoy {

namespace {

std::string shown(const Prediction& prediction) {
  return fmt::format("{} x {} {:.4g} ms", prediction.layout.grid.stages, prediction.layout.grid.replicas,
                     1e3 * prediction.step_seconds());
}

// By the schedule, the micro-batch and the recomputing that the parameters have.
Comparison compare_stages(const RuntimeSpec& runtime, const MachineCosts& machine, std::int64_t ranks) {
  return compare_layouts({.runtime = runtime,
                          .ranks = ranks,
                          .machines = {{runtime.batch.micro, machine}},
                          .schedules = {runtime.schedule},
                          .chunks = runtime.chunks,
                          .recomputes = {runtime.memory.recompute}});
}

void take_best(const Comparison& comparison, RunLayout& layout) {
  if (comparison.predictions.empty()) {
    std::string reasons;
    for (const auto& [key, num] : comparison.refused)
      reasons += fmt::format("{}{} refuses {}", reasons.empty() ? "" : ", ", key, num);
    refuse(
        "grid.stages = auto: none of the {} layouts of {} ranks can train ({}). convoy plan --plan.ranks={} shows "
        "them.",
        comparison.num_tried, comparison.ranks, reasons, comparison.ranks);
  }
  layout.stages = comparison.predictions.front().layout.grid.stages;
  constexpr std::size_t kShown = 4;
  layout.reason = "grid.stages = auto: stages x replicas and predicted step: ";
  for (std::size_t i = 0; i < std::min(kShown, comparison.predictions.size()); ++i)
    layout.reason += fmt::format("{}{}", i == 0 ? "" : i == 1 ? "; others: " : ", ", shown(comparison.predictions[i]));
}

// 0 where they are to be chosen.
std::int64_t known_stages(const Parameters& params, std::int64_t ranks) {
  if (params.grid.stages > 0) return params.grid.stages;
  return params.grid.cuts.empty() && ranks > 1 ? 0 : std::ssize(params.grid.cuts) + 1;
}

}  // namespace

GridShape requested_grid(const Parameters& params, std::int64_t ranks) {
  const std::int64_t stages = std::max<std::int64_t>(1, params.grid.stages);
  // The data may not be opened yet.
  partition(std::vector<double>(static_cast<std::size_t>(count_cells(params.model.name, params.transformer))), stages);
  return grid_shape(stages, ranks);
}

RunLayout choose_layout(const Parameters& params, const io::ModelMetadata& metadata, const mpi::Communicator& world,
                        ops::Backend& backend) {
  RunLayout layout{.stages = known_stages(params, world.size())};
  if (layout.stages > 0) grid_shape(layout.stages, world.size());
  if (world.size() == 1) return layout;
  RuntimeSpec runtime = runtime_spec(params, metadata);
  runtime.on_gpu = !backend.device().is_host();
  if (layout.stages > 0) StepPlan(runtime, grid_shape(layout.stages, world.size()));  // refused before it is measured
  layout.machine = find_machine_costs(calibration_spec(runtime.network, params.run, world, backend), world, backend);
  if (layout.stages == 0) take_best(compare_stages(runtime, *layout.machine, world.size()), layout);
  world.broadcast(&layout.stages, sizeof layout.stages, 0);  // whose rounding decides where two are equal
  return layout;
}

RunLayout choose_layout(const Parameters& params, const io::ModelMetadata& metadata, std::int64_t ranks, bool on_gpu,
                        const MachineCosts& machine) {
  RunLayout layout{.stages = known_stages(params, ranks), .machine = machine};
  RuntimeSpec runtime = runtime_spec(params, metadata);
  runtime.on_gpu = on_gpu;
  if (layout.stages == 0) take_best(compare_stages(runtime, machine, ranks), layout);
  grid_shape(layout.stages, ranks);
  return layout;
}

}  // namespace convoy
