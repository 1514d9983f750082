/// See described_cluster.h.
#include "plan/described_cluster.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "convoy/params/command_parameters.h"

namespace convoy {

namespace {

constexpr double kGiga = 1e9, kTera = 1e12, kMicro = 1e-6;

// Returns the value for a level of the network: 0 on a node, 1 between nodes. A single value is for both. Returns 0 if
// none is given.
double of_level(const std::vector<double>& given, std::size_t level) {
  if (given.empty()) return 0;
  return given.size() == 1 ? given.front() : given[level];
}

double normal_quantile(double p) {
  double low = -40, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::numbers::sqrt2) / 2 < p ? low : high) = middle;
  }
  return low;
}

}  // namespace

ProcessorRates processor_rates(const PlanParams& plan) {
  ProcessorRates rates;
  if (plan.tflop_s > 0) rates.flop_per_second = kTera * plan.tflop_s;
  if (plan.memory_gb_s > 0) rates.bytes_per_second = kGiga * plan.memory_gb_s;
  return rates;
}

void describe_cluster(const PlanParams& plan, MachineCosts& costs) {
  MachineRates& rates = costs.rates;
  for (std::size_t level = 0; level < 2; ++level) {
    LinkRates& link = level == 0 ? rates.on_node : rates.between_nodes;
    if (const double us = of_level(plan.latency_us, level); us > 0) link.latency_seconds = kMicro * us;
    if (const double gb_s = of_level(plan.bandwidth_gb_s, level); gb_s > 0)
      link.bytes_per_second = link.exchange_bytes_per_second = kGiga * gb_s;
  }
  if (plan.node_gb_s > 0) rates.node_bytes_per_second = kGiga * plan.node_gb_s;
  if (plan.memory_gb_s > 0) rates.memory_bytes_per_second = kGiga * plan.memory_gb_s;
  if (plan.ranks_per_node > 0)
    costs.node = {.ranks = plan.ranks_per_node, .ranks_at_once = static_cast<double>(plan.ranks_per_node)};
}

bool describes_messages(const PlanParams& plan) {
  return !plan.latency_us.empty() || !plan.bandwidth_gb_s.empty() || plan.node_gb_s > 0;
}

double expected_max_of_normals(std::int64_t n) {
  if (n <= 1) return 0;
  return normal_quantile((static_cast<double>(n) - 0.375) / (static_cast<double>(n) + 0.25));
}

}  // namespace convoy
