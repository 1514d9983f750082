/// Sums against sums: a step's waits are not seen one by one.
#include "telemetry/rank_causes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace convoy {

namespace {

class Division {
 public:
  Division(const RankRound& round, const GridShape& grid, const std::vector<StageTimes>& planned)
      : round_(round), grid_(grid), planned_(planned) {}

  TimeShares of(std::int64_t replica, std::int64_t stage) const {
    const RankSample& sample = at(replica, stage);
    const auto steps = static_cast<double>(sample.num_steps);
    const StageTimes& plan = planned_[static_cast<std::size_t>(stage)];
    const double neighbours = sample.waits.neighbours / steps, replicas = sample.waits.replicas / steps;
    const double bubble = std::min(neighbours, stretch(replica) * plan.bubble_seconds);
    const double on_the_way = std::min(neighbours - bubble, plan.communication_seconds);
    const double exchange = std::min(replicas, shortest_exchange(stage));
    const double step = sample.step_seconds();
    TimeShares shares{.bubble = bubble / step,
                      .straggler = (neighbours - bubble - on_the_way + replicas - exchange) / step,
                      .communication = (on_the_way + exchange + sample.waits.sends / steps) / step,
                      .data = sample.waits.samples / steps / step};
    shares.busy = 1 - shares.bubble - shares.straggler - shares.communication - shares.data;
    return shares;
  }

 private:
  const RankSample& at(std::int64_t replica, std::int64_t stage) const {
    return round_[static_cast<std::size_t>(replica * grid_.stages + stage)];
  }

  double stretch(std::int64_t replica) const {
    double measured = 0, planned = 0;
    for (std::int64_t stage = 0; stage < grid_.stages; ++stage) {
      measured += at(replica, stage).busy_seconds();
      planned += planned_[static_cast<std::size_t>(stage)].busy_seconds;
    }
    return planned > 0 ? measured / planned : 0;
  }

  double shortest_exchange(std::int64_t stage) const {
    double shortest = std::numeric_limits<double>::infinity();
    for (std::int64_t replica = 0; replica < grid_.replicas; ++replica) {
      const RankSample& sample = at(replica, stage);
      shortest = std::min(shortest, sample.waits.replicas / static_cast<double>(sample.num_steps));
    }
    return shortest;
  }

  const RankRound& round_;
  const GridShape& grid_;
  const std::vector<StageTimes>& planned_;
};

}  // namespace

std::vector<TimeShares> divide_waits(const RankRound& round, const GridShape& grid,
                                     const std::vector<StageTimes>& planned) {
  const Division division(round, grid, planned);
  std::vector<TimeShares> shares;
  for (std::int64_t replica = 0; replica < grid.replicas; ++replica)
    for (std::int64_t stage = 0; stage < grid.stages; ++stage) shares.push_back(division.of(replica, stage));
  return shares;
}

}  // namespace convoy
