/// What a run directory records of the checkpoints that it has had, and where its tables go when a run begins anew in
/// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace convoy {

struct RecordedCheckpoint {
  std::int64_t step = 0;
  std::string file;  ///< that says so: "runs/a/log.jsonl"
};

/// The checkpoint of the highest step that log.jsonl or starts.csv of the run directory say was completed. Nothing
/// where they say it of none: the run was killed before its first save. `began_elsewhere`: whether the run began from a
/// file that checkpoint.resume names, whose step is no checkpoint of its own.
std::optional<RecordedCheckpoint> find_recorded_checkpoint(const std::string& run_directory, bool began_elsewhere);

enum class SetAside { kMove, kCopy };

/// Keeps the tables of an earlier start, which this one would write anew, in a folder of their own, "earlier-1" of the
/// run directory, or with the next number that is free. Returns the folder; empty where no step was recorded. Throws
/// Error where the file system does not allow it. Rank 0.
std::string set_tables_aside(const std::string& run_directory, SetAside how);

}  // namespace convoy
