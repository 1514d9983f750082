/// Measures whether the automatic cut is the best one: resnet50 on as many stages as ranks, cut at every position in
/// turn, compared with one rank, and with the automatic cut under every schedule. Started by tools/bench/cuts.
#include <algorithm>
#include <string>
#include <vector>

#include "convoy/base/median.h"
#include "convoy/params/choices.h"

#include "calibrate/calibration.h"
#include "planned_step.h"

namespace convoy::bench {

namespace {

constexpr Steps kSteps{.warm = 1, .timed = 1};
constexpr std::int64_t kMicro = 2, kMicroBatches = 16;

const NetworkSpec kNetwork{
    .name = "resnet50", .input = ImageShape{128, 128, 3}, .micro_batch = kMicro, .num_classes = 1000};

struct Case {
  std::string what;
  ScheduleKind schedule = ScheduleKind::k1F1B;
  std::vector<std::int64_t> cuts = {};                ///< empty: the automatic cut
  std::vector<double> measured = {}, speed_ups = {};  ///< by round
  double predicted = 0;
};

// For two stages every possible cut; for more only the automatic one.
std::vector<Case> cases_of(std::int64_t ranks) {
  std::vector<Case> cases;
  for (const ScheduleKind schedule : all_schedules())
    cases.push_back({.what = fmt::format("auto, {}", name_of(schedule)), .schedule = schedule});
  const Network network = make_network(kNetwork);
  for (std::int64_t cut = 1; ranks == 2 && cut < std::ssize(network); ++cut)
    cases.push_back({.what = fmt::format("before {}, 1f1b", network[cut]->name()), .cuts = {cut}});
  return cases;
}

RuntimeSpec runtime_spec_of(const Case& one, const MachineCosts& machine) {
  return {.network = kNetwork,
          .batch = {.global = kMicro * kMicroBatches, .micro = kMicro},
          .schedule = one.schedule,
          .chunks = one.schedule == ScheduleKind::kInterleaved ? 2 : 1,
          .cuts = one.cuts,
          .machine = machine};
}

// Measures a step on rank 0 alone; the other ranks wait.
double measure_alone(const MachineCosts& machine, const mpi::Communicator& world, ops::Backend& backend) {
  const mpi::Communicator alone = world.split(world.rank(), 0);
  double seconds = 0;
  if (world.rank() == 0)
    seconds = time_planned_step(runtime_spec_of({}, machine), ProcessGrid(alone, 1), backend, kSteps).measured_seconds;
  world.broadcast(&seconds, sizeof seconds, 0);
  return seconds;
}

void print(std::vector<Case> cases) {
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return median(a.measured) < median(b.measured); });
  fmt::print("{:<28}{:>12}{:>12}{:>20}\n", "cut, schedule", "predicted", "measured", "times one rank");
  for (const Case& one : cases)
    fmt::print("{:<28}{:>9.4g} ms{:>9.4g} ms{:>20.2f}\n", one.what, 1e3 * one.predicted, 1e3 * median(one.measured),
               median(one.speed_ups));
}

void run(std::int64_t rounds, const mpi::Communicator& world, ops::Backend& backend) {
  const MachineCosts machine = find_machine_costs({.network = kNetwork}, world, backend);
  const ProcessGrid grid(world, world.size());
  std::vector<Case> cases = cases_of(world.size());
  for (std::int64_t round = 0; round < rounds; ++round) {
    const double alone = measure_alone(machine, world, backend);
    for (Case& one : cases) {
      const PlannedStep step = time_planned_step(runtime_spec_of(one, machine), grid, backend, kSteps);
      one.predicted = step.predicted_seconds;
      one.measured.push_back(step.measured_seconds);
      one.speed_ups.push_back(alone / step.measured_seconds);
    }
  }
  if (world.rank() == 0) print(cases);
}

}  // namespace

}  // namespace convoy::bench

int main(int argc, char** argv) {
  return convoy::bench::run_rounds(argc, argv, convoy::bench::run);
}
