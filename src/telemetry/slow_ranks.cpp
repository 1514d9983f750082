/// A rank is measured by what it computes per unit of work: a micro-batch of its stage, or a second of its plan.
#include "telemetry/slow_ranks.h"

#include <algorithm>
#include <cstddef>

#include "convoy/base/median.h"

namespace convoy {

std::vector<SlowRank> SlowRanks::measure(const RankRound& round) const {
  const std::int64_t stages = spec_.grid.stages;
  const bool by_plan = spec_.grid.replicas == 1;
  if (by_plan && (stages == 1 || spec_.planned_seconds.empty())) return {};
  const auto unit = [&](std::int64_t rank) {
    return by_plan ? spec_.planned_seconds[static_cast<std::size_t>(rank)]
                   : static_cast<double>(spec_.micro_batches[static_cast<std::size_t>(rank / stages)]);
  };
  std::vector<SlowRank> ranks;
  for (std::int64_t rank = 0; rank < spec_.grid.ranks(); ++rank) {
    std::vector<double> paces;  // of the rank and its peers, seconds per unit
    for (std::int64_t peer = by_plan ? 0 : rank % stages; peer < spec_.grid.ranks(); peer += by_plan ? 1 : stages)
      paces.push_back(round[static_cast<std::size_t>(peer)].busy_seconds() / unit(peer));
    ranks.push_back({.rank = rank,
                     .busy_seconds = round[static_cast<std::size_t>(rank)].busy_seconds(),
                     .expected_seconds = median(paces) * unit(rank),
                     .by_plan = by_plan});
  }
  return ranks;
}

std::vector<SlowRank> SlowRanks::add(const RankRound& round) {
  if (!std::ranges::all_of(round, &RankSample::has_waits)) return {};
  std::vector<SlowRank> news;
  for (const SlowRank& rank : measure(round)) {
    int& rounds = rounds_[rank.rank];
    rounds = rank.excess() > (rank.by_plan ? kMinExcessByPlan : kMinExcess) ? rounds + 1 : 0;
    if (rounds < kRoundsToName) continue;
    const auto [known, is_new] = named_.try_emplace(rank.rank, rank);
    if (is_new) news.push_back(rank);
    if (rank.excess() > known->second.excess()) known->second = rank;
  }
  return news;
}

std::vector<SlowRank> SlowRanks::named() const {
  std::vector<SlowRank> ranks;
  for (const auto& [number, rank] : named_) ranks.push_back(rank);
  return ranks;
}

}  // namespace convoy
