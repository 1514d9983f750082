/// Simulates the step with all costs, then without exchanges, then also without messages.
#include "plan/step_parts.h"

#include <algorithm>
#include <cmath>

#include "convoy/model/network.h"
#include "convoy/params/parameters.h"
#include "convoy/schedule/simulator.h"

#include "plan/described_cluster.h"

namespace convoy {

namespace {

constexpr double kNotWorthNaming = 0.01;  // share of a step
constexpr double kTripsOfCopy = 2;        // read and written

Simulation simulate_step(const StepPlan& plan, const PipelineCosts& costs) {
  return simulate(plan.training_schedule(plan.busiest_replica()), costs, {.zero_buffering = true, .keep_spans = false});
}

PipelineCosts without_exchange(PipelineCosts costs) {
  for (ChunkCost& chunk : costs.chunks)
    for (BucketCost& bucket : chunk.buckets) bucket.reduce_seconds = bucket.gather_seconds = 0;
  return costs;
}

PipelineCosts without_messages(PipelineCosts costs) {
  costs.agree_seconds = 0;
  for (ChunkCost& chunk : costs.chunks) chunk.to_next.latency_seconds = 0, chunk.to_next.size_bytes = 0;
  return costs;
}

// The size of all parameters and of the optimizer's values for each of them.
double checkpoint_bytes(const StepPlan& plan) {
  double floats = 0;
  for (const StagePlan& stage : plan.stages()) floats += static_cast<double>(stage.layout.count);
  return floats * static_cast<double>(kFloatBytes * (1 + plan.num_slots()));
}

// Mean time per step: each rank copies what it owns and, if the steps in between are faster than the disk, waits for
// it.
double checkpoint_seconds(const StepPlan& plan, const StepConditions& conditions, double step_seconds) {
  if (conditions.disk_bytes_per_second <= 0 || conditions.steps_per_checkpoint <= 0) return 0;
  const auto steps = static_cast<double>(conditions.steps_per_checkpoint);
  const double bytes = checkpoint_bytes(plan);
  const auto ranks = static_cast<double>(plan.grid().stages * plan.grid().replicas);
  const double copy = kTripsOfCopy * bytes / ranks / plan.machine().rates.memory_bytes_per_second;
  const double write = bytes / conditions.disk_bytes_per_second;
  return (copy + std::max(0.0, write - steps * step_seconds)) / steps;
}

}  // namespace

double StepParts::total() const {
  double sum = 0;
  for (const NamedPart& part : kStepParts) sum += this->*part.seconds;
  return sum;
}

std::string StepParts::limit() const {
  const auto* const largest =
      std::max_element(kStepParts.begin() + 1, kStepParts.end(),
                       [this](const NamedPart& a, const NamedPart& b) { return this->*a.seconds < this->*b.seconds; });
  return this->*(largest->seconds) > kNotWorthNaming * total() ? largest->name : kStepParts.front().name;
}

StepConditions step_conditions(const Parameters& params, std::int64_t steps_per_epoch) {
  const PlanParams& plan = params.plan;
  const CheckpointParams& checkpoint = params.checkpoint;
  return {.spread = plan.spread_percent / 100,
          .loader_samples_per_second = plan.loader_samples_s,
          .disk_bytes_per_second = 1e9 * plan.disk_gb_s,
          .steps_per_checkpoint = checkpoint.every_steps > 0
                                      ? checkpoint.every_steps
                                      : std::llround(checkpoint.every_epochs * static_cast<double>(steps_per_epoch))};
}

StepParts predict_parts(const StepPlan& plan, const StepConditions& conditions) {
  const PipelineCosts costs = plan.costs(), no_exchange = without_exchange(costs);
  const double whole = simulate_step(plan, costs).step_seconds;
  const double alone = simulate_step(plan, no_exchange).step_seconds;
  const Simulation free = simulate_step(plan, without_messages(no_exchange));
  StepParts parts;
  for (const StageTimes& stage : free.stages)
    parts.arithmetic += stage.busy_seconds / static_cast<double>(plan.grid().stages);
  parts.bubble = std::max(0.0, free.step_seconds - parts.arithmetic);
  // Events in another order can make a step a little longer without a message than with it.
  parts.messages = std::max(0.0, alone - parts.arithmetic - parts.bubble);
  parts.exchange = std::max(0.0, whole - parts.arithmetic - parts.bubble - parts.messages);
  const std::int64_t ranks = plan.grid().stages * plan.grid().replicas;
  parts.stragglers = conditions.spread * expected_max_of_normals(ranks) * parts.total();
  if (conditions.loader_samples_per_second > 0) {
    const std::int64_t samples = plan.micro_batches_of(plan.busiest_replica()).size() * plan.spec().batch.micro;
    const double loading = static_cast<double>(samples) / conditions.loader_samples_per_second;
    parts.loading = std::max(0.0, loading - parts.total());
  }
  parts.checkpoints = checkpoint_seconds(plan, conditions, parts.total());
  return parts;
}

}  // namespace convoy
