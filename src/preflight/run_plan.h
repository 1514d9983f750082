/// The plan of a training on these ranks: grid, number of steps, and predicted time of a step.
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

/// The plan of a run.
struct RunPlan {
  StepPlan step;
  StepCount steps;
  bool costs_are_measured = false;  ///< by an earlier start in the same run.directory; else modelled
  double step_seconds = 0;          ///< predicted
};

/// Plans as train does, but without measuring: with the costs that run.directory holds, or with modelled ones. Reports
/// the plan, and what train would refuse. Returns nothing if there is no plan. Only rank 0 calls it; it does not wait
/// for other ranks.
std::optional<RunPlan> plan_run(const Parameters& params, const RunData& data, ops::Backend& backend,
                                const NodeLoad& node, Report& report);

}  // namespace convoy::preflight
