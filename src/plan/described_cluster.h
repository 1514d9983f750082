/// A cluster that is planned for but not present, as the keys of [plan] describe it.
#pragma once

#include <cstdint>

#include "convoy/model/partition.h"

#include "plan/step_costs.h"

namespace convoy {

struct PlanParams;

/// Returns the rates of plan.tflop_s and plan.memory_gb_s; those of a core for keys that are not given.
ProcessorRates processor_rates(const PlanParams& plan);

/// Replaces measured or modelled costs of nodes, messages and memory by those that [plan] gives.
void describe_cluster(const PlanParams& plan, MachineCosts& costs);

/// Returns whether [plan] gives any rate of messages.
bool describes_messages(const PlanParams& plan);

/// Returns the expected largest of n numbers from a normal distribution, in standard deviations. A step of n ranks that
/// wait for each other takes that much longer than a step of one rank. Blom's formula (1958, "Statistical estimates and
/// transformed beta-variables") is right to 1 %: the quantile of (n - 3/8) / (n + 1/4).
double expected_max_of_normals(std::int64_t n);

}  // namespace convoy
