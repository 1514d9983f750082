/// Runs instruction lists in simulated time: the planner's clock, and the property tests' proof that nothing deadlocks.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/schedule/schedule.h"

namespace convoy {

/// Seconds of one stage's instructions, a micro-batch.
struct StageCost {
  double forward_seconds = 0;
  double backward_seconds = 0;
  double transfer_seconds = 0;  ///< an activation or gradient across the boundary behind this stage
};

/// When an instruction ran.
struct Span {
  Instruction instruction;
  double begin_seconds = 0;
  double end_seconds = 0;
};

struct Simulation {
  std::vector<std::vector<Span>> stages;  ///< by stage, in list order
  double step_seconds = 0;                ///< when the last stage to finish has finished
  double bubble = 0;                      ///< share of stages x step_seconds in which stages computed nothing
};

/// Executes the lists with one clock a stage. A receive waits for its send; transfers take transfer_seconds and do not
/// occupy the stage. With `zero_buffering`, a send also waits until the receiver has reached the matching receive
/// or a later instruction - or, as the executor posts a receive as soon as its buffer is free, would have posted it.
/// Throws Error naming the stages and instructions that wait for each other when the lists deadlock.
Simulation simulate(const Schedule& schedule, const std::vector<StageCost>& costs, bool zero_buffering = false);

}  // namespace convoy
