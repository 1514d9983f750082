/// What a training would be on these ranks: grid, steps, and what a step is predicted to take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "convoy/comm/topology.h"
#include "convoy/ops/backend.h"
#include "convoy/params/parameters.h"

#include "plan/step_plan.h"
#include "preflight/report.h"
#include "run/run_data.h"

namespace convoy::preflight {

struct RunPlan {
  StepPlan step;
  StepCount steps;
  bool costs_are_measured = false;  ///< by an earlier start in the same run.directory; else from a model
  double step_seconds = 0;          ///< predicted
};

/// Plans as train does, by the costs that run.directory keeps or by a model: nothing is measured. Says what train would
/// refuse. Rank 0 alone; it does not wait.
std::optional<RunPlan> plan_run(const Parameters& params, const RunData& data, ops::Backend& backend,
                                const NodeLoad& node, Report& report);

}  // namespace convoy::preflight
