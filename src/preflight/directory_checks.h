/// Checks whether the run directory can be made, locked and written, and has space for the checkpoints.
#pragma once

#include <cstdint>
#include <string>

#include "preflight/report.h"
#include "preflight/run_plan.h"

namespace convoy {
struct CheckpointParams;
struct Parameters;
}  // namespace convoy

namespace convoy::preflight {

/// The space of a file system, and the space that a run needs there.
struct DiskSpace {
  std::int64_t free_bytes = 0;        ///< space that is free now
  std::int64_t used_bytes = 0;        ///< size of the run's existing checkpoints, which new ones will replace
  std::int64_t checkpoint_bytes = 0;  ///< size of one checkpoint
};

/// Judges whether there is space for checkpoint.keep checkpoints, best.h5 and one that is being written. With
/// checkpoint.keep = 0, all `num_checkpoints` of the run must fit.
Finding judge_space(const DiskSpace& space, const CheckpointParams& params, std::int64_t num_checkpoints);

/// Checks, without writing, that the directory can be written and is not locked by another process. If it does not
/// exist, checks that its nearest existing parent can be written.
Finding look_at_directory(const std::string& directory);

/// Writes a test file to the directory of the checkpoints, reads it back, and removes it with the directories that were
/// made for it. The file has the size of a checkpoint, `bytes`, but at least 1 and at most 64 MiB. Reports the speed,
/// and the time that writing a checkpoint will take. `bytes` = 0: the size of a checkpoint is not known.
Finding probe_directory(const std::string& directory, std::int64_t bytes);

/// Reports whether the directory, its disk and the free space suffice. `plan` may be null. Without `writes` nothing is
/// written. Only rank 0 calls it; it does not wait for other ranks.
void check_directory(const Parameters& params, const RunPlan* plan, bool writes, Report& report);

}  // namespace convoy::preflight
