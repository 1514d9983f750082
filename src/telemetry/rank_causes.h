/// Why ranks waited, estimated from the waits of all of them and from the plan.
#pragma once

#include <vector>

#include "convoy/comm/process_grid.h"
#include "convoy/schedule/simulator.h"
#include "convoy/schedule/timeline.h"

#include "telemetry/rank_monitor.h"

namespace convoy {

/// Returns by rank how its steps divide into work and causes of waits (IdleCause). A trace sees these causes message by
/// message; here they are estimated from sums, with the planned step `planned` (by stage). Its bubble is stretched to
/// the time that the replica's stages took:
///   bubble         waits for neighbours, as long as the planned step waits there
///   communication  beyond that, as long as planned messages are on their way; waits until a message has left; of
///                  exchanges, the shortest wait of a replica of this stage: that replica came last
///   straggler      the rest of the waits for neighbours and for replicas
///   data           waits for samples
std::vector<TimeShares> divide_waits(const RankRound& round, const GridShape& grid,
                                     const std::vector<StageTimes>& planned);

}  // namespace convoy
