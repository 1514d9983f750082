/// Finds the causes of waits. A wait is cut where its cause changes.
#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/core.h>

#include "convoy/schedule/timeline.h"

namespace convoy {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// For every wait of a rank, the moment at which the last of the ranks that it needs arrived.
class Arrivals {
 public:
  explicit Arrivals(const Timeline& measured) : measured_(measured) {
    for (const auto& rank : measured.ranks) latest_.emplace_back(rank.size(), kNever);
    for (const Passage& passage : find_passages(measured))
      latest_[passage.to_rank][passage.receive] = measured.ranks[passage.from_rank][passage.send].begin_seconds;
    std::vector<std::size_t> all;
    for (std::size_t rank = 0; rank < measured.num_ranks(); ++rank) all.push_back(rank);
    note(all, Op::kAgreeOnUpdate, Op::kAgreeOnUpdate, &Span::begin_seconds);
    for (std::size_t stage = 0; stage < static_cast<std::size_t>(measured.num_stages); ++stage) {
      std::vector<std::size_t> replicas;
      std::copy_if(all.begin(), all.end(), std::back_inserter(replicas),
                   [&](std::size_t rank) { return measured.stage_of(rank) == stage; });
      note(replicas, Op::kFoldBucket, Op::kReduceBucket, &Span::end_seconds);
      note(replicas, Op::kGatherBucket, Op::kUpdateBucket, &Span::end_seconds);
    }
  }

  double of(std::size_t rank, std::size_t instruction_index) const { return latest_[rank][instruction_index]; }

 private:
  /// The k-th `wait` of each rank of a group needs the k-th `arrival` of all its ranks, because all process buckets in
  /// the same order. A rank's own arrival is before its wait, and so changes nothing.
  void note(const std::vector<std::size_t>& group, Op wait, Op arrival, double Span::*moment) {
    std::vector<double> last;  // by k
    for (const std::size_t rank : group) {
      std::size_t k = 0;
      for (const Span& timed : measured_.ranks[rank]) {
        if (timed.instruction.op != arrival) continue;
        if (k == last.size()) last.push_back(kNever);
        last[k] = std::max(last[k], timed.*moment);
        ++k;
      }
    }
    for (const std::size_t rank : group) {
      std::size_t k = 0;
      for (std::size_t i = 0; i < measured_.ranks[rank].size(); ++i)
        if (measured_.ranks[rank][i].instruction.op == wait) latest_[rank][i] = last.at(k++);
    }
  }

  const Timeline& measured_;
  std::vector<std::vector<double>> latest_;  ///< by rank and instruction; kNever if it waits for no other rank
};

/// Adds the slices of the wait of instruction number `index` in its rank's list. They are neighbours, and none is
/// empty.
void cut(const Span& timed, std::size_t index, double latest_arrival, double planned_wait,
         std::vector<IdleSlice>& slices) {
  double begin = timed.begin_seconds;
  const auto until = [&](double end, IdleCause cause) {
    if (end <= begin) return;
    slices.push_back({.instruction_index = index, .cause = cause, .begin_seconds = begin, .end_seconds = end});
    begin = end;
  };
  const double ready = timed.ready_seconds, late = std::min(latest_arrival, ready);
  switch (timed.instruction.op) {
    case Op::kLoad:
      return until(ready, IdleCause::kData);
    case Op::kRecvActivation:
    case Op::kRecvGradient:
    case Op::kAgreeOnUpdate:
      until(std::min(late, timed.begin_seconds + planned_wait), IdleCause::kBubble);
      until(late, IdleCause::kStraggler);
      break;
    case Op::kFoldBucket:
    case Op::kGatherBucket:
      until(late, IdleCause::kStraggler);
      break;
    default:
      break;
  }
  until(ready, IdleCause::kCommunication);
}

}  // namespace

const char* to_string(IdleCause cause) {
  constexpr const char* kNames[] = {"bubble", "straggler", "communication", "data"};  // in the order of IdleCause
  return kNames[static_cast<std::size_t>(cause)];
}

std::vector<std::vector<IdleSlice>> divide_idle(const Timeline& measured, const Timeline& planned) {
  const Arrivals arrivals(measured);
  std::vector<std::vector<IdleSlice>> idle(measured.num_ranks());
  for (std::size_t rank = 0; rank < measured.num_ranks(); ++rank) {
    const auto& list = measured.ranks[rank];
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Span& in_plan = planned.ranks[rank].at(i % measured.length_of(rank));
      cut(list[i], i, arrivals.of(rank, i), in_plan.wait_seconds(), idle[rank]);
    }
  }
  return idle;
}

std::string csv_fields(const std::optional<TimeShares>& shares) {
  std::string fields;
  for (const NamedShare& part : kTimeShares) fields += shares ? fmt::format(",{:.4f}", (*shares).*part.share) : ",";
  return fields;
}

std::vector<double> busy_shares(const Timeline& timeline) {
  std::vector<double> shares;
  for (const std::vector<Span>& rank : timeline.ranks) {
    double total = 0, waits = 0;
    for (const Span& span : rank) {
      total += span.end_seconds - span.begin_seconds;
      waits += span.wait_seconds();
    }
    shares.push_back(total > 0 ? 1 - waits / total : 1);
  }
  return shares;
}

TimeShares shares_of(const Timeline& timeline, const std::vector<std::vector<IdleSlice>>& idle) {
  double total = 0;
  for (const auto& rank : timeline.ranks)
    for (const Span& i : rank) total += i.end_seconds - i.begin_seconds;
  TimeShares shares;
  if (total <= 0) return shares;
  for (const auto& rank : idle) {
    for (const IdleSlice& slice : rank) {
      const double share = slice.seconds() / total;
      shares.busy -= share;
      (slice.cause == IdleCause::kBubble          ? shares.bubble
       : slice.cause == IdleCause::kStraggler     ? shares.straggler
       : slice.cause == IdleCause::kCommunication ? shares.communication
                                                  : shares.data) += share;
    }
  }
  return shares;
}

}  // namespace convoy
