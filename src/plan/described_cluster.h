/// A cluster that is planned for and not here, as the keys of [plan] describe it.
#pragma once

#include <cstdint>

#include "convoy/model/partition.h"
#include "convoy/params/parameters.h"

#include "plan/step_costs.h"

namespace convoy {

/// plan.tflop_s and plan.memory_gb_s, or a core.
ProcessorRates processor_rates(const PlanParams& plan);

/// Puts what is said of nodes, messages and memory in the place of what was measured or modelled.
void describe_cluster(const PlanParams& plan, MachineCosts& costs);

/// Whether it says anything of messages.
bool describes_messages(const PlanParams& plan);

/// The expected largest of n numbers from a normal distribution, in standard deviations: a step of n ranks that wait
/// for each other takes that much longer than one of a rank. By Blom's formula (1958, "Statistical estimates and
/// transformed beta-variables"), which is right to 1 %: the quantile of (n - 3/8) / (n + 1/4).
double expected_max_of_normals(std::int64_t n);

}  // namespace convoy
