/// Schedules: pure functions from the size of a pipeline to an instruction list for each stage. A new one is one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convoy/params/parameters.h"
#include "convoy/schedule/instruction.h"

namespace convoy {

/// The size of one replica's step.
struct PipelineSpec {
  std::int64_t stages = 1;
  std::int64_t micro_batches = 1;         ///< of this replica
  std::vector<std::int64_t> num_buckets;  ///< by stage; each at least 1. Bucket 0 holds the stage's first cells
  bool agree_on_update = false;           ///< no bucket is updated before all gradients of all stages are known
};

/// A list for each stage. Promises, tested for all:
///   - each micro-batch is loaded or received, forwarded, and sent or scored once a stage; then backward once;
///   - backward runs in ascending order of micro-batch (the gradient tree's binary counter needs it);
///   - sends and receives between neighbours match in order; no list waits for itself, even when a send only leaves
///     once the receiver has asked for it;
///   - every bucket is reduced once, after its last backward; then folded, updated, gathered; with agree_on_update all
///     are folded before the one AgreeOnUpdate, and updated after it.
using Schedule = std::vector<StageProgram>;

Schedule make_naive(const PipelineSpec& spec);  ///< one micro-batch at a time through all stages; 1 in flight
Schedule make_gpipe(const PipelineSpec& spec);  ///< fill, drain; all micro-batches in flight
Schedule make_1f1b(const PipelineSpec& spec);   ///< stage s holds at most min(stages - s, micro_batches) in flight

/// The schedule of that kind.
Schedule make_schedule(ScheduleKind kind, const PipelineSpec& spec);

/// Forward only: evaluation and prediction. One micro-batch in flight a stage.
Schedule make_evaluation(const PipelineSpec& spec);

/// A micro-batch's stay in a stage: its saved activations live from taken_at to the end of released_at, both places in
/// the list.
struct SlotUse {
  std::int64_t micro_batch = 0;
  std::size_t taken_at = 0;     ///< LoadInput or RecvActivation
  std::size_t released_at = 0;  ///< its last Backward; in evaluation the Loss or the SendActivation
};

/// One a micro-batch, in the order in which they are taken.
std::vector<SlotUse> slot_uses(const StageProgram& program);

/// Most micro-batches whose saved activations a stage holds at once.
std::int64_t max_in_flight(const StageProgram& program);

}  // namespace convoy
