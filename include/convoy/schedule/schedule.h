/// Schedules: pure functions from the size of a pipeline to an instruction list for each stage. A new schedule is one
/// file and one line of kSchedules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convoy/params/choices.h"
#include "convoy/schedule/costs.h"
#include "convoy/schedule/instruction.h"

namespace convoy {

/// The number of stages and micro-batches of one replica's step, and the costs that some schedules take into account.
struct PipelineSpec {
  std::int64_t stages = 1;
  std::int64_t micro_batches = 1;  ///< number of micro-batches per step of this replica
  /// Number of runs of cells per stage; more than 1 only in the interleaved schedule and in evaluations. Only
  /// make_schedule() checks that: make_naive() and others would leave out all chunks but the first.
  std::int64_t chunks = 1;
  /// Number of gradient buckets of each virtual stage, at least 1; bucket 0 holds the first cells.
  std::vector<std::int64_t> num_buckets;
  /// Whether each virtual stage reads features of the samples; the first must, or the spec is invalid. Empty: the first
  /// (images) and the last (labels) do.
  std::vector<bool> loads = {};
  bool agree_on_update = false;  ///< true: no bucket is updated before the gradients of all stages are known
  /// Costs that the interleaved and zero-bubble schedules take into account; without costs.chunks, all passes cost the
  /// same.
  PipelineCosts costs = {};

  std::int64_t virtual_stages() const { return stages * chunks; }
  /// Returns whether the virtual stage reads features of the samples.
  bool loads_at(std::int64_t virtual_stage) const {
    return loads.empty() ? virtual_stage == 0 || virtual_stage == virtual_stages() - 1 : loads[virtual_stage];
  }
};

/// An instruction list for each stage. Tests check for all schedules:
///   - each micro-batch is loaded or received, goes forward, and is sent or scored once per chunk; then it goes
///     backward once, or its data gradient is computed once and later its weight gradient once;
///   - a chunk's forward, backward, data gradient and weight gradient run in ascending order of micro-batch (the
///     gradient tree's binary counter needs it);
///   - sends and receives of neighbouring virtual stages match in order; no list waits for itself, even if a send
///     leaves only after its receive is posted;
///   - every bucket is reduced once, right after its last backward; its sums are completed (FoldBucket) and it is
///     updated after the next reduction is started, and it is gathered at the end. With agree_on_update the sums of
///     all buckets are completed before the one AgreeOnUpdate, and all buckets are updated after it.
using Schedule = std::vector<StageProgram>;

// Each ..._in_flight() or in_flight_of_...() function returns what its schedule guarantees about memory: the largest
// number of micro-batches in flight in a stage, over all its chunks. p is the number of stages, s a stage, m the number
// of micro-batches, v the number of chunks per stage.

/// Makes the naive schedule: one micro-batch at a time goes through all stages. Throws Error if spec is invalid (a
/// count below 1, a list of wrong length).
Schedule make_naive(const PipelineSpec& spec);
/// Returns the maximal number of micro-batches in flight in a stage of the naive schedule: 1.
std::int64_t naive_in_flight(const PipelineSpec& spec, std::int64_t stage);

/// Makes the GPipe schedule: all micro-batches forward, then all backward. Throws Error if spec is invalid (a count
/// below 1, a list of wrong length).
Schedule make_gpipe(const PipelineSpec& spec);
/// Returns the maximal number of micro-batches in flight in a stage of GPipe: all of the step.
std::int64_t gpipe_in_flight(const PipelineSpec& spec, std::int64_t stage);

/// Makes the 1F1B schedule: one forward and one backward in turn. Throws Error if spec is invalid (a count below 1, a
/// list of wrong length).
Schedule make_1f1b(const PipelineSpec& spec);
/// Returns the maximal number of micro-batches in flight in a stage of 1F1B: min(stages - stage, micro_batches).
std::int64_t in_flight_of_1f1b(const PipelineSpec& spec, std::int64_t stage);

/// Makes the interleaved schedule: v chunks per stage, and a v-th of 1F1B's bubble (Narayanan et al. 2021, here for any
/// number m of micro-batches). p is the number of stages. Throws Error if spec is invalid (a count below 1, a list of
/// wrong length).
///
/// Micro-batches go through the chunks in max(1, floor(m / p)) groups of at most g: g = p if p divides m, else up to 2p
/// - 1. With m >= p and equal costs, a stage's bubble is (p - 1) (forward + backward) of one chunk. If g > p + 2, up to
/// g - p - 2 backwards of one chunk are added, in which a gradient waits for a buffer.
Schedule make_interleaved(const PipelineSpec& spec);
/// Returns the maximal number of micro-batches in flight in stage s of p of the interleaved schedule, over its v
/// chunks: min(2 (p - s - 1) + (v - 1) g + 1, v m), with the group size g of make_interleaved().
std::int64_t interleaved_in_flight(const PipelineSpec& spec, std::int64_t stage);

/// Makes the zero-bubble schedule ZB-H1 (Qi et al. 2023): data gradients come first, weight gradients fill the gaps.
/// Throws Error if spec is invalid (a count below 1, a list of wrong length).
///
/// p is the number of stages, m the number of micro-batches. If m >= p, all stages cost the same, and the weight
/// gradient takes no longer than forward and no longer than the data gradient, then the step's bubble is at most (p -
/// 1) (forward + data gradient - weight gradient): a third of 1F1B's if all three are equal. At any costs the simulated
/// step (with a network that buffers messages) is no longer than that of 1F1B, provided that exchanges take no time and
/// a joint Backward takes the sum of both gradients.
Schedule make_zero_bubble(const PipelineSpec& spec);
/// Returns the maximal number of micro-batches in flight in a stage of the zero-bubble schedule, counted until
/// BackwardWeight is done: min(p, m) in every stage, as in 1F1B's first stage (p stages, m micro-batches). With 1F1B's
/// limit of p - s in stage s, the last stage could delay no BackwardWeight, and the bubble would be (p - 1) (forward +
/// data gradient).
std::int64_t zero_bubble_in_flight(const PipelineSpec& spec, std::int64_t stage);

/// The properties of a kind of schedule that the rest of the program needs.
struct ScheduleTraits {
  ScheduleKind kind;
  Schedule (*make)(const PipelineSpec& spec);
  /// Maximal number of micro-batches in flight in a stage.
  std::int64_t (*max_in_flight)(const PipelineSpec& spec, std::int64_t stage);
  bool has_chunks = false;       ///< allows several chunks per stage (schedule.chunks)
  bool splits_backward = false;  ///< splits backward into BackwardInput and BackwardWeight
};
/// The only list of schedules.
inline constexpr ScheduleTraits kSchedules[] = {
    {.kind = ScheduleKind::kNaive, .make = make_naive, .max_in_flight = naive_in_flight},
    {.kind = ScheduleKind::kGpipe, .make = make_gpipe, .max_in_flight = gpipe_in_flight},
    {.kind = ScheduleKind::k1F1B, .make = make_1f1b, .max_in_flight = in_flight_of_1f1b},
    {.kind = ScheduleKind::kInterleaved,
     .make = make_interleaved,
     .max_in_flight = interleaved_in_flight,
     .has_chunks = true},
    {.kind = ScheduleKind::kZeroBubble,
     .make = make_zero_bubble,
     .max_in_flight = zero_bubble_in_flight,
     .splits_backward = true},
};

/// Returns the entry of kSchedules of that kind. Throws Error if there is none.
const ScheduleTraits& traits_of(ScheduleKind kind);
/// Returns the kinds of all schedules, in the order of kSchedules.
std::vector<ScheduleKind> all_schedules();

/// Makes the schedule of the given kind. Throws Error if spec is invalid (a count below 1, a list of wrong length), or
/// asks for several chunks per stage and the kind allows only one.
Schedule make_schedule(ScheduleKind kind, const PipelineSpec& spec);

/// Makes the lists of an evaluation or prediction: forward only, with one micro-batch in flight per chunk. With several
/// chunks per stage, micro-batches go through them in groups of spec.stages. Throws Error if spec is invalid (a count
/// below 1, a list of wrong length).
Schedule make_evaluation(const PipelineSpec& spec);

/// Makes a step of the given kind of schedule with one micro-batch, without exchange of gradients and without update.
/// An audit uses it: a replica computes a micro-batch of another replica again, by the same instructions. Throws Error
/// as make_schedule() does.
Schedule make_audit(ScheduleKind kind, const PipelineSpec& spec);

/// The time for which a chunk stores the activations of one micro-batch: from the begin of instruction taken_at to the
/// end of instruction released_at, which are indices in the stage's list.
struct FrameUse {
  std::int64_t chunk = 0;
  std::int64_t micro_batch = 0;
  std::size_t taken_at = 0;  ///< index of the micro-batch's first Load or RecvActivation
  /// Index of its last Backward or BackwardWeight; in evaluation of its Loss or SendActivation.
  std::size_t released_at = 0;
};

/// Returns the FrameUse of each chunk and micro-batch in the list, in the order of taken_at.
std::vector<FrameUse> frame_uses(const StageProgram& program);

/// Returns the largest number of micro-batches whose activations the chunk stores at once, which is the number of
/// frames that it needs. Different chunks may reach their maxima at different times.
std::int64_t max_in_flight(const StageProgram& program, std::int64_t chunk);

/// Returns the number of chunks in the list: 1 + the highest chunk index.
std::int64_t num_chunks(const StageProgram& program);

}  // namespace convoy
