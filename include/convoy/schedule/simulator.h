/// Runs instruction lists in simulated time: the planner's predictions, and the proof in property tests that nothing
/// deadlocks.
#pragma once

#include <vector>

#include "convoy/schedule/costs.h"
#include "convoy/schedule/schedule.h"

namespace convoy {

struct SimulationOptions {
  bool zero_buffering = false;  ///< the network stores nothing: as MPI and NCCL treat messages of this size
  bool keep_spans = true;       ///< without them it is faster and takes less memory
};

/// When an instruction ran: first it waits, then it works. A stage's spans follow each other without gaps.
struct Span {
  Instruction instruction;
  double begin_seconds = 0;  ///< the stage has come to it
  double ready_seconds = 0;  ///< what it waits for is there: its own work begins
  double end_seconds = 0;

  double wait_seconds() const { return ready_seconds - begin_seconds; }
  double work_seconds() const { return end_seconds - ready_seconds; }
};

/// Where a stage's time went: the three add up to the step's, within rounding.
struct StageTimes {
  double busy_seconds = 0;           ///< arithmetic, losses, loading
  double bubble_seconds = 0;         ///< waiting for an instruction elsewhere that had not finished; idle at the end
  double communication_seconds = 0;  ///< waiting for a message on its way, or for an exchange between replicas
};

struct Simulation {
  std::vector<std::vector<Span>> spans;  ///< by stage, in list order; empty where they are not kept
  std::vector<StageTimes> stages;        ///< by stage
  double step_seconds = 0;               ///< when the last stage to finish has finished
  double bubble = 0;                     ///< share of stages x step_seconds in which stages computed nothing
};

/// Executes the lists with one clock per stage, event by event, with the memory that bind_program gives them: what the
/// executor does. Cost: a few tens of nanoseconds per instruction.
///
/// Loading, forward, loss, backward, fold and update take their cost and keep the stage busy; all else takes no time of
/// its own.
///
/// Shared cores. The stages of costs.shared compute more slowly while too many of them do. Waiting takes no core.
///
/// Messages. A send never holds its stage up. The k-th send across a virtual boundary matches the k-th receive. A
/// message leaves once it is sent, `zero_buffering` once it is also posted: at the action that bind_program names. From
/// one stage to another there is one wire in each direction, which messages take in the order in which they can leave.
/// A receive waits until its message is there, latency_seconds after the wire. A Forward waits until the activation
/// sent last from its frame has left; a Backward or BackwardInput likewise for its outgoing gradient buffer.
///
/// Exchanges. ReduceBucket starts one, FoldBucket waits for it; UpdateBucket starts one at its end, GatherBucket waits
/// for it. Those of one stage follow each other. AgreeOnUpdate waits for all stages.
///
/// costs.chunks is by virtual stage: as many as stages x chunks.
///
/// Throws Error where the k-th send and receive across a boundary are of different micro-batches, where a send has no
/// receive, where a bucket is folded or gathered that was not reduced or updated, and where the lists deadlock, naming
/// the stages and the instructions that wait for each other.
Simulation simulate(const Schedule& schedule, const PipelineCosts& costs, const SimulationOptions& options = {});

/// The same with the work of each instruction, by stage; messages and exchanges take no time and are always stored.
Simulation simulate(const Schedule& schedule, const std::vector<WorkSeconds>& work);

}  // namespace convoy
