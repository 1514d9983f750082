/// Measures how accurate the planner's predictions are: steps of many layouts, predicted and measured in turn.
/// Started by tools/bench/plan_accuracy, with as many ranks as cores or, to see the effect of shared cores, more.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "convoy/base/median.h"
#include "convoy/comm/topology.h"
#include "convoy/params/choices.h"

#include "calibrate/calibration.h"
#include "planned_step.h"

namespace convoy::bench {

namespace {

constexpr Steps kSteps{.warm = 2, .timed = 3};

struct Case {
  NetworkSpec network;
  std::int64_t stages = 1;
  std::int64_t micro_batches = 1;  ///< per replica
  ScheduleKind schedule = ScheduleKind::k1F1B;
  std::vector<double> predicted = {}, measured = {};  ///< seconds per step, by round

  double ratio() const;
};

// The median over rounds of predicted / measured: the machine's speed drifts from round to round, the ratio within a
// round drifts less.
double Case::ratio() const {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < predicted.size(); ++i) ratios.push_back(predicted[i] / measured[i]);
  return median(ratios);
}

std::vector<Case> cases_of(std::int64_t ranks) {
  const NetworkSpec resnet20{.name = "resnet20", .input = ImageShape{32, 32, 3}, .micro_batch = 8, .num_classes = 10};
  const NetworkSpec resnet18{.name = "resnet18", .input = ImageShape{64, 64, 3}, .micro_batch = 4, .num_classes = 100};
  std::vector<Case> cases;
  for (const NetworkSpec& network : {resnet20, resnet18}) {
    const std::vector<std::int64_t> steps =
        image_of(network).h <= 32 ? std::vector<std::int64_t>{1, 4, 16} : std::vector<std::int64_t>{1, 4};
    for (const std::int64_t micro_batches : steps)
      cases.push_back({.network = network, .micro_batches = micro_batches});
    for (std::int64_t stages = 2; stages <= ranks; stages *= 2) {
      if (ranks % stages != 0) continue;
      for (const ScheduleKind schedule : all_schedules())
        for (const std::int64_t micro_batches : steps)
          cases.push_back({.network = network, .stages = stages, .micro_batches = micro_batches, .schedule = schedule});
    }
  }
  return cases;
}

void measure(Case& one, const MachineCosts& machine, const mpi::Communicator& world, ops::Backend& backend) {
  const ProcessGrid grid(world, one.stages);
  const std::int64_t micro = one.network.micro_batch;
  const RuntimeSpec spec{.network = one.network,
                         .batch = {.global = micro * one.micro_batches * grid.num_replicas(), .micro = micro},
                         .schedule = one.schedule,
                         .chunks = one.schedule == ScheduleKind::kInterleaved ? 2 : 1,
                         .machine = machine};
  const PlannedStep step = time_planned_step(spec, grid, backend, kSteps);
  one.measured.push_back(step.measured_seconds);
  one.predicted.push_back(step.predicted_seconds);
}

void print(const std::vector<Case>& cases) {
  std::vector<double> errors;
  fmt::print("{:<10}{:>8}{:>15}  {:<12}{:>12}{:>12}{:>8}\n", "network", "stages", "micro-batches", "schedule",
             "predicted", "measured", "ratio");
  for (const Case& one : cases) {
    const double ratio = one.ratio();
    errors.push_back(std::abs(ratio - 1));
    fmt::print("{:<10}{:>8}{:>15}  {:<12}{:>9.4g} ms{:>9.4g} ms{:>8.2f}\n", one.network.name, one.stages,
               one.micro_batches, one.stages == 1 ? "-" : name_of(one.schedule), 1e3 * median(one.predicted),
               1e3 * median(one.measured), ratio);
  }
  constexpr double kNear = 0.1;
  const auto near = std::ranges::count_if(errors, [](double error) { return error <= kNear; });
  fmt::print("median error of {} layouts: {:.1f} %; {} within 10 %\n", cases.size(), 100 * median(errors), near);
}

void run(std::int64_t rounds, const mpi::Communicator& world, ops::Backend& backend) {
  std::vector<Case> cases = cases_of(world.size());
  for (std::int64_t round = 0; round < rounds; ++round) {
    MachineCosts machine;
    std::string measured_for;
    for (Case& one : cases) {
      if (one.network.name != measured_for)
        machine = find_machine_costs({.network = one.network, .node = find_node_load(world, 1)}, world, backend);
      measured_for = one.network.name;
      measure(one, machine, world, backend);
    }
  }
  if (world.rank() == 0) print(cases);
}

}  // namespace

}  // namespace convoy::bench

int main(int argc, char** argv) {
  return convoy::bench::run_rounds(argc, argv, convoy::bench::run);
}
