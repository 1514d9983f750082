/// The file log.jsonl: events of a run, one JSON object per line, for programs that read it while the run continues.
/// Used by rank 0 only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "convoy/base/file_descriptor.h"

#include "telemetry/json_row.h"

namespace convoy {

/// Writes log.jsonl.
class JsonLog {
 public:
  /// Which rows of an existing file are kept: those of steps up to these numbers. `steps` = 0: no row is kept.
  struct Keep {
    std::int64_t steps = 0;   ///< for all rows except those of kind "epoch"
    std::int64_t epochs = 0;  ///< for rows of kind "epoch"; also a number of a step
  };

  /// Opens the file at `path`, and removes the rows that `keep` does not keep. Throws Error with the file and the
  /// system's reason.
  JsonLog(const std::string& path, const Keep& keep);

  /// Adds a row. Rows are written to the file when the oldest has waited for kMaxWaitSeconds. `now` is the result of
  /// now_seconds().
  void add(const JsonRow& row, double now);
  /// Writes a row at once, before rows that wait. Any thread may call it. Errors (a full disk) are ignored.
  void add_at_once(const JsonRow& row) const;
  /// Gives all rows to the system, so that they survive if this process is killed. Does not wait for the disk. Throws
  /// Error if the file cannot be written.
  void write_rows();

  /// Longest time in seconds that a row of add() waits before it is written.
  static constexpr double kMaxWaitSeconds = 2;

 private:
  std::string path_;
  FileDescriptor file_;               ///< each write appends whole lines
  std::string waiting_;               ///< lines that are not written yet
  double first_waiting_seconds_ = 0;  ///< now_seconds() when the first of these was added; 0: there is none
};

/// Returns the rows of `text`, the content of a log.jsonl, that `keep` keeps. Lines that are not rows are left out.
std::string keep_json_rows(std::string_view text, const JsonLog::Keep& keep);

}  // namespace convoy
