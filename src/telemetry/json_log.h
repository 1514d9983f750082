/// log.jsonl: what happens in a run, a JSON object per line, for programs that read along. Rank 0 only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "convoy/base/file_descriptor.h"

#include "telemetry/json_row.h"

namespace convoy {

class JsonLog {
 public:
  /// What stays of a file that is there: rows of steps up to these; 0: none.
  struct Keep {
    std::int64_t steps = 0;
    std::int64_t epochs = 0;  ///< of kind "epoch"
  };

  /// Throws Error naming the file and the system's reason.
  JsonLog(const std::string& path, const Keep& keep);

  /// The row is in the file once rows have waited for kMaxWaitSeconds. `now` is now_seconds().
  void add(const JsonRow& row, double now);
  /// By any thread, before rows that wait. A disk that does not take it is no reason to end.
  void add_at_once(const JsonRow& row) const;
  /// All rows are in the file, and survive a kill; the disk is not waited for. Throws Error where it is full.
  void write_rows();

  static constexpr double kMaxWaitSeconds = 2;

 private:
  std::string path_;
  FileDescriptor file_;  ///< each write appends whole lines
  std::string waiting_;
  double first_waiting_seconds_ = 0;
};

/// Of a log's `text`, the rows that stay; lines that are no rows do not.
std::string keep_json_rows(std::string_view text, const JsonLog::Keep& keep);

}  // namespace convoy
