/// See run_plan.h.
#include "preflight/run_plan.h"

#include <utility>

#include <fmt/core.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/params/parameters.h"

#include "calibrate/calibration.h"
#include "calibrate/run_layout.h"
#include "plan/batch_norm_check.h"
#include "plan/described_cluster.h"
#include "plan/planner.h"
#include "run/training_setup.h"

namespace convoy::preflight {

namespace {

// Returns the costs that run.directory holds; none if a training would measure none either.
std::optional<MachineCosts> kept_costs(const Parameters& params, const NetworkSpec& network, const NodeLoad& node,
                                       std::int64_t ranks, ops::Backend& backend) {
  if (ranks == 1 || !params.plan.measure) return std::nullopt;
  return find_kept_costs({.network = network, .file = costs_path(params.run), .node = node}, ranks, backend);
}

RunPlan plan(const Parameters& params, const RunData& data, ops::Backend& backend, const NodeLoad& node,
             std::int64_t ranks) {
  const bool on_gpu = !backend.device().is_host();
  const NetworkSpec network = runtime_spec(params, data.metadata).network;
  const StepCount steps = count_steps(params, data.train.info());
  check_sample_path(params, data.train, data.metadata);
  const auto kept = kept_costs(params, network, node, ranks, backend);
  MachineCosts machine = kept ? *kept : model_machine_costs(make_network(network));
  machine.node = node;
  describe_cluster(params.plan, machine);
  const RunLayout layout = choose_layout(params, data.metadata, ranks, on_gpu, machine);
  RunPlan planned{
      .step = StepPlan(training_spec(params, data.metadata, data.train.info(), layout, on_gpu),
                       grid_shape(layout.stages, ranks)),
      .steps = steps,
      .costs_are_measured = kept.has_value(),
  };
  planned.step_seconds = predict_step(planned.step).step_seconds;
  return planned;
}

std::string describe(const RunPlan& run, std::int64_t batch, bool measures) {
  const GridShape& grid = run.step.grid();
  const char* const costs = run.costs_are_measured ? "costs measured before"
                            : measures             ? "from a model of the machine; convoy train will measure it"
                                                   : "from a model of the machine";
  return fmt::format("{} x {}; {} of {}, {} in an epoch; predicted step {} ms ({})", counted(grid.stages, "stage"),
                     counted(grid.replicas, "replica"), counted(run.steps.total, "step"), counted(batch, "sample"),
                     run.steps.per_epoch, plain_number(1e3 * run.step_seconds, 3), costs);
}

}  // namespace

std::optional<RunPlan> plan_run(const Parameters& params, const RunData& data, ops::Backend& backend,
                                const NodeLoad& node, Report& report) {
  try {
    RunPlan planned = plan(params, data, backend, node, report.world().size());
    const bool is_invariant = planned.step.is_invariant();
    report.add("plan", ok(describe(planned, params.batch.global, params.plan.measure)));
    const std::string few = describe_few_values(planned.step.network(), planned.step.spec().network);
    if (!few.empty()) report.add("plan", warning(few));
    if (!is_invariant)
      report.add("plan",
                 warning(fmt::format("only runs with {0} replicas will give the same bits: {1} micro-batches on {0} "
                                     "replicas{2}",
                                     planned.step.grid().replicas, planned.step.micro_batches_per_step(),
                                     params.run.reduction == ReductionKind::kFast
                                         ? " with run.reduction = fast"
                                         : " do not give each replica an equal number that is a power of two")));
    return planned;
  } catch (const Error& error) {
    report.add("plan", fails(error.what()));
    return std::nullopt;
  }
}

}  // namespace convoy::preflight
