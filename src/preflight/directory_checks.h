/// Whether the run's directory can be made, locked and written, and has room for the checkpoints.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/params/parameters.h"

#include "preflight/report.h"
#include "preflight/run_plan.h"

namespace convoy::preflight {

/// What a file system has, and what a run will put there.
struct DiskSpace {
  std::int64_t free_bytes = 0;
  std::int64_t used_bytes = 0;  ///< of the run's own checkpoints, which make room for new ones
  std::int64_t checkpoint_bytes = 0;
};

/// Room for checkpoint.keep checkpoints, best.h5 and one that is being written. With checkpoint.keep = 0 for all of the
/// `num_checkpoints` of the run.
Finding judge_space(const DiskSpace& space, const CheckpointParams& params, std::int64_t num_checkpoints);

/// The directory without writing: it is there, or what is above it can be written; nobody else has its lock.
Finding look_at_directory(const std::string& directory);

/// A file like a checkpoint of `bytes`, written where checkpoints go, read back, and removed, as are the directories
/// that were made for it. Says how fast it was written; `bytes` 0: a checkpoint's size is not known.
Finding probe_directory(const std::string& directory, std::int64_t bytes);

/// `plan` may be null. Without `writes` nothing is written. Rank 0 alone; it does not wait.
void check_directory(const Parameters& params, const RunPlan* plan, bool writes, Report& report);

}  // namespace convoy::preflight
