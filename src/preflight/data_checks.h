/// Whether every rank can read the data that it will train and measure on, and whether they belong together.
#pragma once

#include <optional>

#include "convoy/params/parameters.h"

#include "preflight/report.h"
#include "run/run_data.h"
#include "watch/status_board.h"

namespace convoy::preflight {

/// Opens each split on all ranks, as train does; with check.hash each shard is hashed, by one of them. Returns the data
/// where all ranks have opened the same and they fit together; rank 0 says why they do not. All ranks.
std::optional<RunData> check_data(const Parameters& params, Report& report, StatusBoard& board);

}  // namespace convoy::preflight
