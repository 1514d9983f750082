/// Estimates why ranks have waited, from the waits of all ranks and from the plan.
#pragma once

#include <vector>

#include "convoy/comm/process_grid.h"
#include "convoy/schedule/simulator.h"
#include "convoy/schedule/timeline.h"

#include "telemetry/rank_monitor.h"

namespace convoy {

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
std::vector<TimeShares> divide_waits(const RankRound& round, const GridShape& grid,
                                     const std::vector<StageTimes>& planned);

}  // namespace convoy
