/// log.jsonl: what happens in a run, a JSON object per line, for programs that read it while the run continues. Rank 0
/// only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "convoy/base/file_descriptor.h"

#include "telemetry/json_row.h"

namespace convoy {

class JsonLog {
 public:
  /// The rows of an existing file that are kept: those of steps up to these numbers; 0: none.
  struct Keep {
    std::int64_t steps = 0;
    std::int64_t epochs = 0;  ///< for rows of kind "epoch"
  };

  /// Opens the log. Throws Error with the file and the system's reason.
  JsonLog(const std::string& path, const Keep& keep);

  /// Adds a row. Rows are written once one has waited for kMaxWaitSeconds. `now` is now_seconds().
  void add(const JsonRow& row, double now);
  /// Writes a row at once, before rows that wait. Any thread may call it. Ignores a disk that does not take it.
  void add_at_once(const JsonRow& row) const;
  /// Writes all rows to the file, so that they survive a kill of this process, without waiting for the disk. Throws
  /// Error if the file cannot be written.
  void write_rows();

  static constexpr double kMaxWaitSeconds = 2;

 private:
  std::string path_;
  FileDescriptor file_;  ///< each write appends whole lines
  std::string waiting_;
  double first_waiting_seconds_ = 0;
};

/// Returns the rows of a log's `text` that `keep` keeps; lines that are no rows are dropped.
std::string keep_json_rows(std::string_view text, const JsonLog::Keep& keep);

}  // namespace convoy
