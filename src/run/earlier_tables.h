/// Finds the checkpoints that a run directory records, and sets its tables aside if a run begins anew in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace convoy {

struct RecordedCheckpoint {
  std::int64_t step = 0;
  std::string file;  ///< the file that records it: "runs/a/log.jsonl"
};

/// Returns the checkpoint of the highest step that log.jsonl or starts.csv of the run directory record as completed.
/// Nothing if they record none: the run was killed before its first save. `began_elsewhere`: whether the run began from
/// a file that checkpoint.resume names; the step of that file is not a checkpoint of this run.
std::optional<RecordedCheckpoint> find_recorded_checkpoint(const std::string& run_directory, bool began_elsewhere);

enum class SetAside { kMove, kCopy };

/// Keeps the tables of an earlier start, which this start would overwrite, in a folder of their own: "earlier-1" of the
/// run directory, or the next free number. Returns the folder; empty if no step was recorded. Throws Error if the file
/// system does not allow it. Rank 0.
std::string set_tables_aside(const std::string& run_directory, SetAside how);

}  // namespace convoy
