/// Finds the checkpoints that the tables of a run directory record, and keeps these tables if a new run begins there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace convoy {

/// A checkpoint that a table of the run directory records as complete.
struct RecordedCheckpoint {
  std::int64_t step = 0;
  std::string file;  ///< path of the table: "runs/a/log.jsonl"
};

/// Returns the checkpoint with the highest step that log.jsonl or starts.csv of the run directory record. Empty if they
/// record none: the run was killed before its first checkpoint. `began_elsewhere` says that the run began from a file
/// that checkpoint.resume names; the step of that file does not count as a checkpoint of this run.
std::optional<RecordedCheckpoint> find_recorded_checkpoint(const std::string& run_directory, bool began_elsewhere);

/// Whether set_tables_aside() moves the files or copies them.
enum class SetAside { kMove, kCopy };

/// Moves or copies the tables of an earlier start, which this start would overwrite, to a folder of the run directory:
/// "earlier-1" or the next free number. Returns its path; empty if the tables record no step. Throws Error if the file
/// system does not allow it. Only rank 0 calls it.
std::string set_tables_aside(const std::string& run_directory, SetAside how);

}  // namespace convoy
