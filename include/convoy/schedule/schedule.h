/// Schedules: pure functions from the size of a pipeline to an instruction list for each stage. A new one is one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convoy/params/parameters.h"
#include "convoy/schedule/costs.h"
#include "convoy/schedule/instruction.h"

namespace convoy {

/// The size of one replica's step.
struct PipelineSpec {
  std::int64_t stages = 1;
  std::int64_t micro_batches = 1;         ///< of this replica
  std::int64_t chunks = 1;                ///< a stage: runs of cells; more than 1 only where interleaved
  std::vector<std::int64_t> num_buckets;  ///< by virtual stage; each at least 1. Bucket 0 holds the first cells
  /// By virtual stage, whether it reads of the samples; empty: the first (images) and the last (labels).
  std::vector<bool> loads = {};
  bool agree_on_update = false;  ///< no bucket is updated before all gradients of all stages are known
  PipelineCosts costs = {};      ///< that interleaved and zero bubble follow; no chunks: all passes cost alike

  std::int64_t virtual_stages() const { return stages * chunks; }
  bool loads_at(std::int64_t virtual_stage) const {
    return loads.empty() ? virtual_stage == 0 || virtual_stage == virtual_stages() - 1 : loads[virtual_stage];
  }
};

/// A list for each stage. Promises, tested for all:
///   - each micro-batch is loaded or received, forwarded, and sent or scored once per chunk; then backward once, or the
///     data gradient once and later the weight gradient once;
///   - a chunk's forward, backward, data gradient and weight gradient run in ascending order of micro-batch (the
///     gradient tree's binary counter needs it);
///   - sends and receives of neighbouring virtual stages match in order; no list waits for itself, even when a send
///     only leaves once the receiver has asked for it;
///   - every bucket is reduced once, right after its last backward; folded and updated after the next reduction is
///     started; gathered at the end; with agree_on_update all are folded before the one AgreeOnUpdate, and updated
///     after it.
using Schedule = std::vector<StageProgram>;

/// Beside each schedule is what it promises of memory: the most micro-batches in flight in a stage, over all its
/// chunks.
Schedule make_naive(const PipelineSpec& spec);  ///< one micro-batch at a time through all stages
std::int64_t naive_in_flight(const PipelineSpec& spec, std::int64_t stage);  ///< 1

Schedule make_gpipe(const PipelineSpec& spec);  ///< all micro-batches forward, then all backward
std::int64_t gpipe_in_flight(const PipelineSpec& spec, std::int64_t stage);  ///< all

Schedule make_1f1b(const PipelineSpec& spec);                                  ///< one forward, one backward in turn
std::int64_t in_flight_of_1f1b(const PipelineSpec& spec, std::int64_t stage);  ///< min(stages - stage, micro_batches)

/// Several chunks per stage: a v-th of 1F1B's bubble. Narayanan et al. 2021, for any number of micro-batches.
/// Micro-batches go through the chunks in max(1, floor(m / p)) groups, of at most g: p where p divides m, else up to
/// 2p - 1.
/// With m >= p and equal costs, a stage's bubble is (p - 1) (forward + backward) of one chunk; where g > p + 2, up to
/// g - p - 2 backwards of one chunk more, in which a gradient waits for a buffer.
Schedule make_interleaved(const PipelineSpec& spec);
/// min(2 (p - s - 1) + (v - 1) g + 1, v m) in stage s.
std::int64_t interleaved_in_flight(const PipelineSpec& spec, std::int64_t stage);

/// Data gradients first, weight gradients where there is time: ZB-H1. Qi et al. 2023.
/// With m >= p and stages of equal cost, the weight gradient no longer than forward and the data gradient, the step's
/// bubble is at most (p - 1) (forward + data gradient - weight gradient): a third of 1F1B's where all three are equal.
/// At any costs, where exchanges take no time and a joint Backward takes the sum of both, it simulates (without
/// buffering) no slower than 1F1B.
Schedule make_zero_bubble(const PipelineSpec& spec);
/// min(p, m) in every stage, until BackwardWeight is done: what 1F1B's first stage holds. (Held to 1F1B's p - s in each
/// stage, the last could delay no BackwardWeight, and the bubble would be (p - 1) (forward + data gradient).)
std::int64_t zero_bubble_in_flight(const PipelineSpec& spec, std::int64_t stage);

/// What the rest of the program knows of each kind: the one list of schedules.
struct ScheduleTraits {
  ScheduleKind kind;
  Schedule (*make)(const PipelineSpec& spec);
  std::int64_t (*max_in_flight)(const PipelineSpec& spec, std::int64_t stage);  ///< its promise of memory
  bool has_chunks = false;       ///< takes several chunks per stage (schedule.chunks)
  bool splits_backward = false;  ///< into BackwardInput and BackwardWeight
  bool follows_costs = false;    ///< its order depends on PipelineSpec::costs
};
inline constexpr ScheduleTraits kSchedules[] = {
    {.kind = ScheduleKind::kNaive, .make = make_naive, .max_in_flight = naive_in_flight},
    {.kind = ScheduleKind::kGpipe, .make = make_gpipe, .max_in_flight = gpipe_in_flight},
    {.kind = ScheduleKind::k1F1B, .make = make_1f1b, .max_in_flight = in_flight_of_1f1b},
    {.kind = ScheduleKind::kInterleaved,
     .make = make_interleaved,
     .max_in_flight = interleaved_in_flight,
     .has_chunks = true,
     .follows_costs = true},
    {.kind = ScheduleKind::kZeroBubble,
     .make = make_zero_bubble,
     .max_in_flight = zero_bubble_in_flight,
     .splits_backward = true,
     .follows_costs = true},
};

const ScheduleTraits& traits_of(ScheduleKind kind);
std::vector<ScheduleKind> all_schedules();

/// The schedule of that kind. Throws Error where spec is not a pipeline, or the kind has one chunk per stage and spec
/// more.
Schedule make_schedule(ScheduleKind kind, const PipelineSpec& spec);

/// Forward only: evaluation and prediction. One micro-batch in flight per chunk; with several chunks, micro-batches go
/// through them in groups of p.
Schedule make_evaluation(const PipelineSpec& spec);

/// The step of that kind with one micro-batch, of which no gradients are exchanged and nothing is updated: a replica
/// computes a micro-batch of another one again, by the same instructions.
Schedule make_audit(ScheduleKind kind, const PipelineSpec& spec);

/// A micro-batch's stay in a chunk: its saved activations live from taken_at to the end of released_at, both positions
/// in the list.
struct SlotUse {
  std::int64_t chunk = 0;
  std::int64_t micro_batch = 0;
  std::size_t taken_at = 0;     ///< LoadInput or RecvActivation
  std::size_t released_at = 0;  ///< its last Backward or BackwardWeight; in evaluation the Loss or the SendActivation
};

/// One per chunk and micro-batch, in the order in which they are taken.
std::vector<SlotUse> slot_uses(const StageProgram& program);

/// Most micro-batches whose saved activations a stage holds of that chunk at once: its frames. Chunks need not come to
/// their most at once.
std::int64_t max_in_flight(const StageProgram& program, std::int64_t chunk);

/// 1 + the highest chunk in the list.
std::int64_t num_chunks(const StageProgram& program);

}  // namespace convoy
