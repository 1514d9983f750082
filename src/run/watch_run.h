/// Has all ranks of a run watched.
#pragma once

#include <memory>

#include "convoy/params/parameters.h"

#include "step/rank_runtime.h"
#include "watch/watchdog.h"

namespace convoy {

/// From here until it is destroyed, a rank that stands still is found, named by rank 0, and after
/// run.watchdog_abort_seconds ends the job. All ranks of the world.
std::unique_ptr<Watchdog> watch_run(const Parameters& params, const RankRuntime& runtime);

}  // namespace convoy
