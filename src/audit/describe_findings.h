/// Describes the findings of an audit in words.
#pragma once

#include <string>
#include <vector>

#include "audit/judge.h"
#include "plan/step_plan.h"

namespace convoy {

/// Returns "rank 5 (replica 2, stage 1) on node7, GPU-5e1f: the output of layer2.0 .. layer2.3 is not what other
/// computations gave for the same micro-batch". `places` is Audit::Result::places: "node7, GPU-5e1f" for each rank.
std::string describe_finding(const AuditFinding& finding, const StepPlan& plan, const std::vector<std::string>& places);

}  // namespace convoy
