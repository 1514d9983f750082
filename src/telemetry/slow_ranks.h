/// Finds ranks that are slower than their peers.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "convoy/comm/process_grid.h"

#include "telemetry/rank_monitor.h"

namespace convoy {

struct SlowRank {
  std::int64_t rank = 0;
  double busy_seconds = 0;      ///< time of its part of a step, without waits
  double expected_seconds = 0;  ///< the same time, as expected from its peers
  bool by_plan = false;         ///< true: peers are other stages, each measured by its planned part

  double excess() const { return busy_seconds / expected_seconds - 1; }
};

class SlowRanks {
 public:
  struct Spec {
    GridShape grid;
    std::vector<std::int64_t> micro_batches;  ///< number per step of each replica
    /// Expected time of computing per step of each stage, from measured costs; empty: not known. Needed if there is
    /// only one replica.
    std::vector<double> planned_seconds;
  };

  explicit SlowRanks(Spec spec) : spec_(std::move(spec)) {}

  /// Returns the ranks that have become slow with this round, each only once: more than kMinExcess (by plan:
  /// kMinExcessByPlan) above the median of its peers and itself, in kRoundsToName rounds in a row. Peers are the other
  /// replicas of its stage; with one replica the other stages.
  std::vector<SlowRank> add(const RankRound& round);
  /// All ranks that add() has returned, each at its slowest.
  std::vector<SlowRank> named() const;

  /// A plan's costs were measured before the run, cell by cell: between two stages they may be a quarter off.
  static constexpr double kMinExcess = 0.15, kMinExcessByPlan = 0.5;
  static constexpr int kRoundsToName = 3;

 private:
  std::vector<SlowRank> measure(const RankRound& round) const;

  Spec spec_;
  std::map<std::int64_t, int> rounds_;      ///< by rank: number of rounds in a row in which it was slow
  std::map<std::int64_t, SlowRank> named_;  ///< by rank
};

}  // namespace convoy
