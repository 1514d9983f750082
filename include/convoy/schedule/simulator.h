/// Executes instruction lists in simulated time. The planner predicts the duration of steps with it, and property tests
/// check that no schedule deadlocks.
#pragma once

#include <vector>

#include "convoy/schedule/costs.h"
#include "convoy/schedule/schedule.h"

namespace convoy {

/// Options of simulate().
struct SimulationOptions {
  /// The network buffers no messages: a send leaves when its receive is posted, as large messages do in MPI and NCCL.
  bool zero_buffering = false;
  bool keep_spans = true;  ///< true: fills Simulation::spans; false: simulate() is faster and takes less memory
};

/// The time in which an instruction ran: first it waits, then it works. A stage's spans follow each other without gaps.
/// Times are seconds from any common start.
struct Span {
  Instruction instruction;
  double begin_seconds = 0;  ///< time when the stage has reached the instruction
  double ready_seconds = 0;  ///< time when it stops waiting and its own work begins
  double end_seconds = 0;

  double wait_seconds() const { return ready_seconds - begin_seconds; }
  double work_seconds() const { return end_seconds - ready_seconds; }
};

/// The parts of a stage's time in a step, which add up to the step's duration, within rounding.
struct StageTimes {
  double busy_seconds = 0;           ///< work: forward, backward, losses, updates and loading of samples
  double bubble_seconds = 0;         ///< waits for an unfinished instruction of another stage, and idle time at the end
  double communication_seconds = 0;  ///< waits for a message on its way, or for an exchange between replicas
};

/// The result of simulate().
struct Simulation {
  /// Spans of each stage, in the order of its list; empty lists without SimulationOptions::keep_spans.
  std::vector<std::vector<Span>> spans;
  std::vector<StageTimes> stages;  ///< parts of each stage's time
  double step_seconds = 0;         ///< duration of the step, until the last stage has finished
  double bubble = 0;  ///< share of all stages' time in which they do no work (waits and idle time), from 0 to 1
};

/// Executes the lists as the executor does: event by event, with one clock per stage and the memory that bind_program()
/// assigns. It takes a few tens of nanoseconds per instruction. costs.chunks has one entry per virtual stage.
///
/// Work: loading, forward, loss, backward, FoldBucket and UpdateBucket take their cost and keep the stage busy. Other
/// instructions take no time of their own.
///
/// Shared cores: the stages of costs.shared slow each other down while too many of them compute. Waiting takes no core.
///
/// Messages: a send never blocks its stage. The k-th send across a virtual boundary matches the k-th receive. A message
/// leaves when it is sent or, with zero_buffering, when its receive is posted too, which is at the action that
/// bind_program() chose. From one stage to another there is one link, which messages use in the order in which they can
/// leave. A receive waits until its message arrives, latency_seconds after it has passed the link. A Forward waits
/// until the last activation sent from its frame has left. A Backward or BackwardInput waits until the last gradient
/// sent from its outgoing buffer has left.
///
/// Exchanges: ReduceBucket starts one, for which FoldBucket waits. UpdateBucket starts one at its end, for which
/// GatherBucket waits. The exchanges of one stage run one after the other. AgreeOnUpdate waits for all stages.
///
/// Throws Error if the k-th send and the k-th receive across a boundary are of different micro-batches, if a send has
/// no receive, if a FoldBucket or GatherBucket comes before the bucket's ReduceBucket or UpdateBucket, if costs do not
/// match the lists, and if the lists deadlock. In the last case the message names the stages and the instructions that
/// wait for each other.
Simulation simulate(const Schedule& schedule, const PipelineCosts& costs, const SimulationOptions& options = {});

/// Executes the lists in simulated time; `work` gives the duration of each instruction, by stage, in seconds. Messages
/// and exchanges take no time, and the network buffers all messages. Throws Error as the other simulate() does.
Simulation simulate(const Schedule& schedule, const std::vector<WorkSeconds>& work);

}  // namespace convoy
