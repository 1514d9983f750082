/// Checks what a training is given: finds the parameters that train would refuse before it opens any file, and checks
/// whether every rank can read the data sets, and whether they fit together.
#pragma once

#include <optional>

#include "preflight/report.h"
#include "run/run_data.h"
#include "watchdog/status_board.h"

namespace convoy {
struct Parameters;
}

namespace convoy {
struct Request;
}

namespace convoy::preflight {

/// The result of check_parameters(), the same on all ranks.
struct ParameterState {
  bool is_common = false;  ///< whether all ranks have the same parameters; if not, no other check is possible
  bool is_sound = false;   ///< whether the parameters have no problem
};

/// Checks the parameters, and reports each problem as a verdict. All ranks of the world call it.
ParameterState check_parameters(const Request& request, Report& report);

/// Opens the data sets on all ranks, as train does. If check.hash is set, each shard is also hashed by one of the
/// ranks. Returns the data if all ranks have opened the same data and the data sets fit together; otherwise returns
/// nothing, and rank 0 reports the reason. All ranks of the world call it.
std::optional<RunData> check_data(const Parameters& params, Report& report, StatusBoard& board);

}  // namespace convoy::preflight
