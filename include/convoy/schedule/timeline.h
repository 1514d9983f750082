/// A step as it ran, or as it was planned: which rank was in which instruction at which time, and which rank waited for
/// which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convoy/schedule/schedule.h"
#include "convoy/schedule/simulator.h"

namespace convoy {

/// Steps that were made one after the other.
struct Timeline {
  std::int64_t num_stages = 1;
  std::int64_t num_steps = 1;
  /// By rank = replica * num_stages + stage: as many instructions in each step.
  std::vector<std::vector<Span>> ranks;

  std::size_t num_ranks() const { return ranks.size(); }
  std::size_t stage_of(std::size_t rank) const { return rank % static_cast<std::size_t>(num_stages); }
  std::size_t replica_of(std::size_t rank) const { return rank / static_cast<std::size_t>(num_stages); }
  /// Instructions per step.
  std::size_t length_of(std::size_t rank) const { return ranks[rank].size() / static_cast<std::size_t>(num_steps); }
};

/// One step of several.
Timeline step_of(const Timeline& timeline, std::int64_t step);
/// Of the rank that the step took longest, from its begin to its end: ranks need not begin together.
double step_seconds(const Timeline& timeline, std::int64_t step);
/// From the first begin on any rank to the last end on any.
struct Extent {
  double first_seconds = 0, seconds = 0;
};
/// All zero where there is nothing.
Extent extent_of(const Timeline& timeline);
/// The step of median length (of an even number the shorter one of the two in the middle).
std::int64_t median_step(const Timeline& timeline);

/// What each instruction of a step works, not waits, in the mean over steps, replicas and micro-batches: by rank, in
/// the order of its list.
std::vector<WorkSeconds> mean_work(const Timeline& measured);

/// The step as it would be if every instruction took exactly its work, in a row of such steps: where a rank ends early,
/// its next step begins with a wait. Messages take no time, and replicas do not wait for each other.
/// `replicas`: each one's lists; `work`: by rank.
Timeline planned_step(const std::vector<Schedule>& replicas, const std::vector<WorkSeconds>& work);

/// A message between neighbouring stages: positions in the lists of two ranks, counted through all steps.
struct Passage {
  std::size_t from_rank = 0, send = 0;
  std::size_t to_rank = 0, receive = 0;
};

/// Every send with its receive: the k-th of the one is the k-th of the other, as Schedule guarantees.
std::vector<Passage> find_passages(const Timeline& timeline);

// --- Idle time -------------------------------------------------------------------------------------------------

/// Why a rank waits. Each wait of an instruction, [begin, ready), is cut where its cause changes.
///   a receive, until the neighbour has reached the send (of AgreeOnUpdate: until the last rank has reached it):
///     kBubble         as long as this instruction waits in the planned step too
///     kStraggler      beyond that: the neighbour is later than the plan has it
///   a bucket's fold or gather, until the last replica has come to its exchange (has ended its ReduceBucket, or its
///   UpdateBucket):
///     kStraggler      from the beginning: in the plan replicas come together
///   and from there on, until the data are here:
///     kCommunication  also all of a wait for a message that has yet to leave its buffer, before Forward and Backward
///   what Load reads:
///     kData           the loader had none ready
enum class IdleCause { kBubble, kStraggler, kCommunication, kData };

/// "bubble", "straggler", "communication", "data".
const char* to_string(IdleCause cause);

/// A part of a wait.
struct IdleSlice {
  std::size_t instruction_index = 0;  ///< of the instruction, among its rank's
  IdleCause cause = IdleCause::kBubble;
  double begin_seconds = 0, end_seconds = 0;

  double seconds() const { return end_seconds - begin_seconds; }
};

/// All waits of all ranks, cut: by rank, in order of time. `planned`: as planned_step() has it.
std::vector<std::vector<IdleSlice>> divide_idle(const Timeline& measured, const Timeline& planned);

/// Parts of the time that all ranks spent in steps; they sum to 1.
struct TimeShares {
  double busy = 1, bubble = 0, straggler = 0, communication = 0, data = 0;
};

TimeShares shares_of(const Timeline& timeline, const std::vector<std::vector<IdleSlice>>& idle);

}  // namespace convoy
