/// One comparison by the planner, of the numbers of stages.
#include "train/run_layout.h"

#include "convoy/base/error.h"
#include "convoy/comm/process_grid.h"

#include "train/calibration.h"
#include "train/planner.h"

namespace convoy {

namespace {

std::string shown(const Prediction& prediction) {
  return fmt::format("{} x {} {:.4g} ms", prediction.layout.grid.stages, prediction.layout.grid.replicas,
                     1e3 * prediction.step_seconds);
}

// By the schedule, the micro-batch and the recomputing that the parameters have.
Comparison compare_stages(const EngineSpec& engine, const MachineCosts& machine, std::int64_t ranks) {
  return compare_layouts({.engine = engine,
                          .ranks = ranks,
                          .machines = {{engine.batch.micro, machine}},
                          .schedules = {engine.schedule},
                          .chunks = engine.chunks,
                          .recomputes = {engine.memory.recompute}});
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

}  // namespace

RunLayout choose_layout(const Parameters& params, const io::ModelCard& card, const mpi::Communicator& world,
                        ops::Library& library) {
  RunLayout layout{.stages = params.grid.stages};
  const bool chooses = params.grid.stages == 0;
  if (chooses) layout.stages = params.grid.cuts.empty() && world.size() > 1 ? 0 : std::ssize(params.grid.cuts) + 1;
  if (layout.stages > 0) grid_shape(layout.stages, world.size());
  if (world.size() == 1) return layout;
  EngineSpec engine = engine_spec(params, card);
  engine.on_gpu = !library.device().is_host();
  if (layout.stages > 0) StepPlan(engine, grid_shape(layout.stages, world.size()));  // refused before it is measured
  layout.machine = find_machine_costs({.network = engine.network,
                                       .file = costs_path(params.run),
                                       .plans_file = engine.plans_file,
                                       .node = find_node_load(params.run, world, library)},
                                      world, library);
  if (layout.stages == 0) take_best(compare_stages(engine, *layout.machine, world.size()), layout);
  world.broadcast(&layout.stages, sizeof layout.stages, 0);  // whose rounding decides where two are equal
  return layout;
}

}  // namespace convoy
