/// Runs instruction lists in simulated time: the planner's clock, and the property tests' proof that nothing deadlocks.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/schedule/schedule.h"

namespace convoy {

/// Seconds of one stage's instructions, a micro-batch.
struct StageCost {
  double forward_seconds = 0;
  double backward_seconds = 0;  ///< of all buckets together; the parts of a backward by bucket take equal shares
  double transfer_seconds = 0;  ///< an activation or gradient across the boundary behind this stage
};

/// When an instruction ran. A stage's spans follow each other without gaps: waiting lies inside the span that waits.
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

/// Executes the lists with one clock a stage. Forward and Backward take their cost, all else takes no time of its own.
///
/// A send never holds its stage up: the message leaves while the stage goes on, takes transfer_seconds, and follows the
/// message before it in the same direction across the same boundary. A receive waits until its message has arrived. The
/// k-th send matches the k-th receive.
///
/// Without `zero_buffering` a message leaves as soon as it is sent. With it, the network stores nothing, as MPI's
/// rendezvous protocol: a message leaves once it is sent *and* its receive is posted into a buffer of its own:
///   - A stage has K = max_in_flight(its list) activation slots. The k-th micro-batch to enter takes slot k mod K. That
///   is
///     free once its holder, the (k-K)-th, is released (see SlotUse), and the messages sent from it, the holder's
///     activation and gradient, have arrived.
///   - A stage has 2 gradient buffers. The k-th gradient takes buffer k mod 2, free once the backward of the (k-2)-th
///   is
///     done.
///   - A receive is posted when its buffer is free and its stage begins an instruction: not in the midst of computing
///   or
///     of waiting for something else. The receive itself, once reached, waits for the buffer and posts. LoadInput waits
///     for its slot likewise.
///
/// Throws Error where the k-th send and receive across a boundary are of different micro-batches, where a send has no
/// receive, and where the lists deadlock, naming the stages and the instructions that wait for each other.
Simulation simulate(const Schedule& schedule, const std::vector<StageCost>& costs, bool zero_buffering = false);

}  // namespace convoy
