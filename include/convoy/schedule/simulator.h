/// Runs instruction lists in simulated time. The planner predicts steps with it, and property tests check that no
/// schedule deadlocks.
#pragma once

#include <vector>

#include "convoy/schedule/costs.h"
#include "convoy/schedule/schedule.h"

namespace convoy {

/// Options of simulate().
struct SimulationOptions {
  bool zero_buffering = false;  ///< the network stores no messages, as with MPI and NCCL at these sizes
  bool keep_spans = true;       ///< fill Simulation::spans; without it simulate() is faster and takes less memory
};

/// The time in which an instruction ran: first it waits, then it works. A stage's spans follow each other without gaps.
struct Span {
  Instruction instruction;
  double begin_seconds = 0;  ///< when the stage has reached it
  double ready_seconds = 0;  ///< when it stops waiting and its own work begins
  double end_seconds = 0;

  double wait_seconds() const { return ready_seconds - begin_seconds; }
  double work_seconds() const { return end_seconds - ready_seconds; }
};

/// The parts of a stage's time in a step. They add up to the step's time, within rounding.
struct StageTimes {
  double busy_seconds = 0;           ///< arithmetic, losses, loading
  double bubble_seconds = 0;         ///< waiting for an unfinished instruction of another stage; idle time at the end
  double communication_seconds = 0;  ///< waiting for a message on its way, or for an exchange between replicas
};

/// The result of simulate().
struct Simulation {
  std::vector<std::vector<Span>> spans;  ///< by stage, in list order; empty lists without keep_spans
  std::vector<StageTimes> stages;        ///< the parts of each stage's time
  double step_seconds = 0;               ///< the end of the last stage to finish
  double bubble = 0;                     ///< share of the stages' time in which they computed nothing, from 0 to 1
};

/// Executes the lists as the executor does: event by event, with one clock per stage and the memory that bind_program()
/// assigns. It takes a few tens of nanoseconds per instruction. costs.chunks has one entry per virtual stage.
///
/// Work: loading, forward, loss, backward, fold and update take their cost and keep the stage busy. Other instructions
/// take no time of their own.
///
/// Shared cores: the stages of costs.shared slow each other down while too many of them compute. Waiting takes no core.
///
/// Messages: a send never blocks its stage. The k-th send across a virtual boundary matches the k-th receive. A message
/// leaves when it is sent or, with zero_buffering, when its receive is posted too, which is at the action that
/// bind_program() chose. From one stage to another there is one wire, which messages take in the order in which they
/// can leave. A receive waits until its message arrives, latency_seconds after the wire. A Forward waits until the
/// last activation sent from its frame has left. A Backward or BackwardInput waits until the last gradient sent from
/// its outgoing buffer has left.
///
/// Exchanges: ReduceBucket starts one, for which FoldBucket waits. UpdateBucket starts one at its end, for which
/// GatherBucket waits. The exchanges of one stage run one after the other. AgreeOnUpdate waits for all stages.
///
/// Throws Error if the k-th send and the k-th receive across a boundary are of different micro-batches, if a send has
/// no receive, if a bucket is folded or gathered that was not reduced or updated, if costs do not match the lists, and
/// if the lists deadlock. The last message names the stages and the instructions that wait for each other.
Simulation simulate(const Schedule& schedule, const PipelineCosts& costs, const SimulationOptions& options = {});

/// Executes the lists with the given work of each instruction, by stage, in seconds. Messages and exchanges take no
/// time, and the network stores all messages. Throws Error as the other simulate() does.
Simulation simulate(const Schedule& schedule, const std::vector<WorkSeconds>& work);

}  // namespace convoy
