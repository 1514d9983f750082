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
  double busy_seconds = 0;      ///< of its part of a step, waits left out
  double expected_seconds = 0;  ///< by its peers
  bool by_plan = false;         ///< peers are other stages, each measured by its planned part

  double excess() const { return busy_seconds / expected_seconds - 1; }
};

class SlowRanks {
 public:
  struct Spec {
    GridShape grid;
    std::vector<std::int64_t> micro_batches;  ///< of each replica, in a step
    /// What each stage is expected to compute in a step, as measured costs have it; empty: not known. Needed where
    /// there is one replica.
    std::vector<double> planned_seconds;
  };

  explicit SlowRanks(Spec spec) : spec_(std::move(spec)) {}

  /// Those that have become slow now, each once: by more than kMinExcess over the median of its peers and itself, in
  /// so many rounds in a row that it is no accident. Peers are the other replicas of its stage; with one replica the
  /// other stages.
  std::vector<SlowRank> add(const RankRound& round);
  /// All that were named, each at its slowest.
  std::vector<SlowRank> named() const;

  /// A plan's costs were measured before the run, cell by cell: between two stages they may be a quarter off.
  static constexpr double kMinExcess = 0.15, kMinExcessByPlan = 0.5;
  static constexpr int kRoundsToName = 3;

 private:
  std::vector<SlowRank> measure(const RankRound& round) const;

  Spec spec_;
  std::map<std::int64_t, int> rounds_;      ///< by rank: in which it was slow, in a row
  std::map<std::int64_t, SlowRank> named_;  ///< by rank
};

}  // namespace convoy
