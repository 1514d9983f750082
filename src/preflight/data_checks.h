/// Checks whether every rank can read the data sets of a training, and whether they fit together.
#pragma once

#include <optional>

#include "preflight/report.h"
#include "run/run_data.h"
#include "watch/status_board.h"

namespace convoy {
struct Parameters;
}

namespace convoy::preflight {

/// Opens the data sets on all ranks, as train does. If check.hash is set, each shard is also hashed by one of the
/// ranks. Returns the data if all ranks have opened the same data and the data sets fit together; otherwise returns
/// nothing, and rank 0 reports the reason. All ranks of the world call it.
std::optional<RunData> check_data(const Parameters& params, Report& report, StatusBoard& board);

}  // namespace convoy::preflight
