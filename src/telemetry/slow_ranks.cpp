/// Causes of waits are estimated from sums, because a step's waits are not seen one by one. A rank is measured by what
/// it computes per unit of work: a micro-batch of its stage, or a second of its plan.
#include "telemetry/slow_ranks.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "convoy/base/median.h"

namespace convoy {

namespace {

// Returns the ratio of the measured to the planned working time of a replica, whose samples are by stage.
double stretch(std::span<const RankSample> replica, const std::vector<StageTimes>& planned) {
  double measured_seconds = 0, planned_seconds = 0;
  for (const RankSample& sample : replica) measured_seconds += sample.busy_seconds();
  for (const StageTimes& stage : planned) planned_seconds += stage.busy_seconds;
  return planned_seconds > 0 ? measured_seconds / planned_seconds : 0;
}

// Returns the shortest time per step that a replica of a stage has waited for the others.
double shortest_exchange(const RankSamples& samples, const GridShape& grid, std::int64_t stage) {
  double shortest = std::numeric_limits<double>::infinity();
  for (std::int64_t rank = stage; rank < grid.ranks(); rank += grid.stages) {
    const RankSample& sample = samples[static_cast<std::size_t>(rank)];
    shortest = std::min(shortest, sample.waits.replicas / static_cast<double>(sample.num_steps));
  }
  return shortest;
}

// Divides the time of a rank's steps. `plan` has the times of its stage in the planned step.
TimeShares divide(const RankSample& sample, const StageTimes& plan, double stretch, double shortest_exchange) {
  const auto steps = static_cast<double>(sample.num_steps);
  const double neighbours = sample.waits.neighbours / steps, replicas = sample.waits.replicas / steps;
  const double bubble = std::min(neighbours, stretch * plan.bubble_seconds);
  const double on_the_way = std::min(neighbours - bubble, plan.communication_seconds);
  const double exchange = std::min(replicas, shortest_exchange);
  const double step = sample.step_seconds();
  TimeShares shares{.bubble = bubble / step,
                    .straggler = (neighbours - bubble - on_the_way + replicas - exchange) / step,
                    .communication = (on_the_way + exchange + sample.waits.sends / steps) / step,
                    .data = sample.waits.samples / steps / step};
  shares.busy = 1 - shares.bubble - shares.straggler - shares.communication - shares.data;
  return shares;
}

}  // namespace

std::vector<TimeShares> divide_waits(const RankSamples& samples, const GridShape& grid,
                                     const std::vector<StageTimes>& planned) {
  const auto stages = static_cast<std::size_t>(grid.stages);
  std::vector<TimeShares> shares;
  for (std::size_t rank = 0; rank < samples.size(); ++rank) {
    const std::size_t stage = rank % stages;
    shares.push_back(divide(samples[rank], planned[stage],
                            stretch(std::span(samples).subspan(rank - stage, stages), planned),
                            shortest_exchange(samples, grid, static_cast<std::int64_t>(stage))));
  }
  return shares;
}

std::vector<SlowRank> SlowRanks::measure(const RankSamples& samples) const {
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
      paces.push_back(samples[static_cast<std::size_t>(peer)].busy_seconds() / unit(peer));
    ranks.push_back({.rank = rank,
                     .busy_seconds = samples[static_cast<std::size_t>(rank)].busy_seconds(),
                     .expected_seconds = median(paces) * unit(rank),
                     .by_plan = by_plan});
  }
  return ranks;
}

std::vector<SlowRank> SlowRanks::add(const RankSamples& samples) {
  if (!std::ranges::all_of(samples, &RankSample::has_waits)) return {};
  std::vector<SlowRank> news;
  for (const SlowRank& rank : measure(samples)) {
    int& intervals = slow_intervals_[rank.rank];
    intervals = rank.excess() > (rank.by_plan ? kMinExcessByPlan : kMinExcess) ? intervals + 1 : 0;
    if (intervals < kIntervalsToName) continue;
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
