/// Checks whether the run's directory can be made, locked and written, and has room for the checkpoints.
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

/// The space of a file system, and the space that a run will need there.
struct DiskSpace {
  std::int64_t free_bytes = 0;
  std::int64_t used_bytes = 0;        ///< size of the run's own checkpoints, which make room for new ones
  std::int64_t checkpoint_bytes = 0;  ///< size of one checkpoint
};

/// Judges the room for checkpoint.keep checkpoints, best.h5 and one that is being written. With checkpoint.keep = 0 all
/// `num_checkpoints` of the run are kept.
Finding judge_space(const DiskSpace& space, const CheckpointParams& params, std::int64_t num_checkpoints);

/// Checks the directory without writing: it can be written or, if it does not exist, its nearest existing parent can
/// be, and no other process has its lock.
Finding look_at_directory(const std::string& directory);

/// Writes a file of the size of a checkpoint, but of 1 to 64 MiB, into the directory of the checkpoints, reads it back
/// and removes it, with the directories that were made for it. Reports the speed of writing and the time for a
/// checkpoint of `bytes` bytes; 0: its size is not known.
Finding probe_directory(const std::string& directory, std::int64_t bytes);

/// Reports whether the directory, the disk and its space are sufficient. `plan` may be null. Without `writes` nothing
/// is written. Only rank 0 calls it; it does not wait for other ranks.
void check_directory(const Parameters& params, const RunPlan* plan, bool writes, Report& report);

}  // namespace convoy::preflight
