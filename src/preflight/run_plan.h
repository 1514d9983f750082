/// Plans the training on these ranks: its grid, number of steps, and predicted duration of a step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "convoy/comm/topology.h"
#include "convoy/ops/backend.h"

#include "plan/step_plan.h"
#include "preflight/report.h"
#include "run/run_data.h"

namespace convoy {
struct Parameters;
}

namespace convoy::preflight {

/// The plan of a training that has not started.
struct RunPlan {
  StepPlan step;
  StepCount steps;
  /// Whether costs were measured, by an earlier start in run.directory; otherwise they are modelled.
  bool costs_are_measured = false;
  double step_seconds = 0;  ///< predicted duration of a step
};

/// Plans as train does, but without measuring: with the costs stored in run.directory, or with modelled ones. Reports
/// the plan, and the errors that train would report. Returns nothing if there is no plan. Only rank 0 calls it; it does
/// not wait for other ranks.
std::optional<RunPlan> plan_run(const Parameters& params, const RunData& data, ops::Backend& backend,
                                const NodeLoad& node, Report& report);

}  // namespace convoy::preflight
