/// Estimates why ranks have waited, from the waits of all ranks and from the plan; and finds ranks that are slower than
/// their peers.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "convoy/schedule/simulator.h"
#include "convoy/schedule/timeline.h"

#include "telemetry/rank_monitor.h"

namespace convoy {

/// A rank that is slower than its peers.
struct SlowRank {
  std::int64_t rank = 0;
  double busy_seconds = 0;      ///< its time per step without waits
  double expected_seconds = 0;  ///< the same time if it were as fast as its peers
  /// True: its peers are the other stages, compared by their planned times; false: other replicas.
  bool by_plan = false;

  /// How much slower than expected it is, as a fraction: 0.2 means 20 %.
  double excess() const { return busy_seconds / expected_seconds - 1; }
};

/// Compares the ranks with their peers in each interval.
class SlowRanks {
 public:
  /// The arguments of SlowRanks.
  struct Spec {
    GridShape grid;
    std::vector<std::int64_t> micro_batches;  ///< by replica: number of micro-batches per step
    /// By stage: planned time of computing per step in seconds, from measured costs; empty: not known. Needed if there
    /// is only one replica.
    std::vector<double> planned_seconds;
  };

  explicit SlowRanks(Spec spec) : spec_(std::move(spec)) {}

  /// Adds the samples of an interval and returns the ranks that have become slow with it, each rank only once. Slow is
  /// a rank that was in kIntervalsToName intervals in a row more than kMinExcess (by plan: kMinExcessByPlan) above the
  /// median of its peers and itself. The peers of a rank are the other replicas of its stage; with one replica, the
  /// other stages.
  std::vector<SlowRank> add(const RankSamples& samples);
  /// All ranks that add() has returned, each as in the interval in which it was slowest.
  std::vector<SlowRank> named() const;

  /// Values of SlowRank::excess(). Costs of cells, measured before the run, may be a quarter off between two stages, so
  /// the bound by plan is higher.
  static constexpr double kMinExcess = 0.15, kMinExcessByPlan = 0.5;
  static constexpr int kIntervalsToName = 3;

 private:
  std::vector<SlowRank> measure(const RankSamples& samples) const;

  Spec spec_;
  std::map<std::int64_t, int> slow_intervals_;  ///< by rank: number of intervals in a row in which it was slow
  std::map<std::int64_t, SlowRank> named_;      ///< by rank
};

/// Returns for each rank how the time of its steps divides into work and causes of waits (IdleCause). A trace knows the
/// cause of each wait; here the causes are estimated from sums. `planned` has the times of the planned step, by stage.
/// Its bubble is scaled by the ratio of measured to planned working time of the replica.
///   bubble         waits for neighbouring stages, as long as the planned step waits for them
///   communication  the further waits for neighbouring stages, as long as the planned messages take; waits for sends;
///   of
///                  the waits for other replicas, as much as the replica of this stage with the shortest ones has
///                  waited, because it came last
///   straggler      the remaining waits for neighbouring stages and other replicas
///   data           waits for samples
std::vector<TimeShares> divide_waits(const RankSamples& samples, const GridShape& grid,
                                     const std::vector<StageTimes>& planned);

}  // namespace convoy
