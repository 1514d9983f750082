/// Common code of the planner's benchmarks: a layout's step as predicted and as measured, and a main of several rounds.
#pragma once

#include <string>
#include <vector>

#include "convoy/base/median.h"
#include "convoy/comm/process_grid.h"
#include "convoy/comm/session.h"

#include "checkpoint/checkpointing.h"
#include "plan/planner.h"
#include "timing.h"

namespace convoy::bench {

/// The number of steps to run; the median of the timed ones is the result.
struct Steps {
  int warm = 1, timed = 1;
};

struct PlannedStep {
  double predicted_seconds = 0, measured_seconds = 0;
};

/// Predicts and measures a step. All ranks of the grid call it.
inline PlannedStep time_planned_step(const RuntimeSpec& spec, const ProcessGrid& grid, ops::Backend& backend,
                                     const Steps& steps) {
  StatusBoard board;
  RankRuntime runtime(spec, grid, backend, board);
  TrainingStep training(runtime);
  initialise_parameters({.seed = 1}, runtime);
  SyntheticSource source(runtime);
  for (int step = 0; step < steps.warm; ++step) seconds_of_step(training, source, grid.world());
  std::vector<double> seconds;
  for (int step = 0; step < steps.timed; ++step) seconds.push_back(seconds_of_step(training, source, grid.world()));
  return {.predicted_seconds = predict_step(runtime.plan()).step_seconds, .measured_seconds = median(seconds)};
}

/// Calls run(number of rounds, world, backend of one thread per rank); the command line may give the number.
template <typename Run>
int run_rounds(int argc, char** argv, const Run& run) {
  return mpi::run_guarded(argc, argv, [&](mpi::Session& session) {
    const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
    run(argc > 1 ? std::stoll(argv[1]) : 3, session.world(), *backend);
    return ExitStatus::kDone;
  });
}

}  // namespace convoy::bench
