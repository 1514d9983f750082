/// Why ranks waited, estimated from the waits of all of them and from the plan.
#pragma once

#include <vector>

#include "convoy/comm/process_grid.h"
#include "convoy/schedule/simulator.h"
#include "convoy/schedule/timeline.h"

#include "telemetry/rank_monitor.h"

namespace convoy {

/// By rank: the shares of its steps. The causes are those of IdleCause; what a trace sees message by message is
/// estimated here from sums. With the planned step `planned` (by stage), stretched to what the replica's stages took:
///   bubble         waits for neighbours, as long as the planned step waits there
///   communication  beyond that, as long as planned messages are on their way; waits until a message has left; of
///                  exchanges, what the replica of this stage waited that waited least: it came last
///   straggler      the rest of the waits for neighbours and for replicas
///   data           waits for samples
std::vector<TimeShares> divide_waits(const RankRound& round, const GridShape& grid,
                                     const std::vector<StageTimes>& planned);

}  // namespace convoy
