/// Describes steps as they ran, or as they were planned: when each rank executed each instruction, and why it waited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/schedule/schedule.h"
#include "convoy/schedule/simulator.h"

namespace convoy {

/// Consecutive steps of all ranks, with the time of each instruction.
struct Timeline {
  std::int64_t num_stages = 1;
  std::int64_t num_steps = 1;
  /// The spans of each rank, whose index is replica * num_stages + stage; every step of a rank has the same number of
  /// instructions.
  std::vector<std::vector<Span>> ranks;

  std::size_t num_ranks() const { return ranks.size(); }
  std::size_t stage_of(std::size_t rank) const { return rank % static_cast<std::size_t>(num_stages); }
  std::size_t replica_of(std::size_t rank) const { return rank / static_cast<std::size_t>(num_stages); }
  /// Returns the number of instructions of the rank per step.
  std::size_t length_of(std::size_t rank) const { return ranks[rank].size() / static_cast<std::size_t>(num_steps); }
};

/// Returns a single step of a timeline; `step` counts from 0.
Timeline step_of(const Timeline& timeline, std::int64_t step);
/// Returns the duration of step `step` (counted from 0) on its slowest rank, in seconds. The time of each rank counts
/// from the begin of its own step.
double step_seconds(const Timeline& timeline, std::int64_t step);
/// The time from the first begin on any rank to the last end on any rank.
struct Extent {
  double first_seconds = 0, seconds = 0;
};
/// Returns the extent of a timeline; all zero if it has no spans.
Extent extent_of(const Timeline& timeline);
/// Returns the index of the step of median duration; of an even number of steps, the shorter of the two in the middle.
std::int64_t median_step(const Timeline& timeline);

/// Returns the mean duration of each instruction of a step, without waits, in seconds: by rank, in the order of its
/// list. The mean is over steps, replicas and micro-batches.
std::vector<WorkSeconds> mean_work(const Timeline& measured);

/// Returns the step as it would be if every instruction took exactly the time in `work`. It is the second of two such
/// steps: a rank that ended the first one early begins with a wait. Messages take no time, and replicas do not wait for
/// each other. `replicas` has the lists of each replica, `work` has one entry per rank.
Timeline planned_step(const std::vector<Schedule>& replicas, const std::vector<WorkSeconds>& work);

/// A message between neighbouring stages: the indices of its send and its receive in the lists of their ranks, counted
/// through all steps.
struct Passage {
  std::size_t from_rank = 0, send = 0;
  std::size_t to_rank = 0, receive = 0;
};

/// Returns every send with its receive. The k-th send across a boundary between stages belongs to the k-th receive, as
/// Schedule guarantees. Throws Error if the numbers of sends and receives differ.
std::vector<Passage> find_passages(const Timeline& timeline);

// --- Idle time -------------------------------------------------------------------------------------------------

/// The reason why a rank waits. Each wait of an instruction, [begin, ready), is divided where its cause changes.
/// "Planned" is the result of planned_step().
///   a receive, until the neighbour has reached the send; AgreeOnUpdate, until the last rank has reached it:
///     kBubble         for as long as this instruction waits in the planned step too
///     kStraggler      beyond that: the neighbour is later than planned
///   FoldBucket or GatherBucket, until the last replica has ended its ReduceBucket or its UpdateBucket:
///     kStraggler      from the beginning: in the planned step all replicas arrive together
///   the rest of these waits, until the data have arrived:
///     kCommunication  this is also the cause of every wait before Forward and Backward: a message has yet to leave the
///                     buffer that they write
///   Load:
///     kData           the loader had no samples ready
enum class IdleCause { kBubble, kStraggler, kCommunication, kData };

/// Returns "bubble", "straggler", "communication" or "data".
const char* to_string(IdleCause cause);

/// A part of a wait that has one cause.
struct IdleSlice {
  std::size_t instruction_index = 0;  ///< index of the instruction that waits, in its rank's list
  IdleCause cause = IdleCause::kBubble;
  double begin_seconds = 0, end_seconds = 0;

  double seconds() const { return end_seconds - begin_seconds; }
};

/// Returns all waits of all ranks, divided by cause: by rank, in order of time. `planned` is a result of
/// planned_step().
std::vector<std::vector<IdleSlice>> divide_idle(const Timeline& measured, const Timeline& planned);

/// The shares of the time that all ranks spent in steps, by what they did. They sum to 1.
struct TimeShares {
  double busy = 1, bubble = 0, straggler = 0, communication = 0, data = 0;
};

/// A member of TimeShares with its name.
struct NamedShare {
  const char* name;
  double TimeShares::*share;
};
/// All members of TimeShares, in their order.
inline constexpr NamedShare kTimeShares[] = {{"busy", &TimeShares::busy},
                                             {"bubble", &TimeShares::bubble},
                                             {"straggler", &TimeShares::straggler},
                                             {"communication", &TimeShares::communication},
                                             {"data", &TimeShares::data}};

/// Returns the shares as fields of a CSV row, each after a comma; the fields are empty if there are no shares.
std::string csv_fields(const std::optional<TimeShares>& shares);

/// Returns for each rank the share of its time in which it did not wait; 1 if it has no spans.
std::vector<double> busy_shares(const Timeline& timeline);

/// Returns the shares of busy time and of each cause of waits; `idle` is a result of divide_idle() for `timeline`.
TimeShares shares_of(const Timeline& timeline, const std::vector<std::vector<IdleSlice>>& idle);

}  // namespace convoy
