/// Checks whether every rank can read the data that it will train and measure on, and whether the splits fit together.
#pragma once

#include <optional>

#include "preflight/report.h"
#include "run/run_data.h"
#include "watch/status_board.h"

namespace convoy {
struct Parameters;
}

namespace convoy::preflight {

/// Opens each split on all ranks, as train does. With check.hash, each shard is hashed by one of the ranks. Returns the
/// data if all ranks have opened the same and the splits fit together; else rank 0 reports why not. All ranks call it.
std::optional<RunData> check_data(const Parameters& params, Report& report, StatusBoard& board);

}  // namespace convoy::preflight
