/// ranks.csv: what each rank did with its time, a row per rank and interval. Rank 0 only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/file_descriptor.h"
#include "convoy/schedule/timeline.h"

#include "telemetry/json_row.h"
#include "telemetry/rank_meter.h"

namespace convoy {

/// What a rank did in an interval.
struct RankRow {
  double time = 0;  ///< seconds since 1970
  std::int64_t rank = 0, replica = 0, stage = 0;
  std::string host;
  RankSample sample;
  std::optional<TimeShares> shares;  ///< of its steps; nothing if its waits are not known
};

class RankTable {
 public:
  /// Opens the table, and keeps its rows of steps up to `last_step`. It has columns of GPUs if `has_sensors`, or if it
  /// had them before. Throws Error with the file and the system's reason, as add() does.
  RankTable(const std::string& path, bool has_sensors, std::int64_t last_step);

  /// Writes the rows to the file at once.
  void add(const std::vector<RankRow>& rows);

 private:
  std::string path_;
  bool has_sensors_;
  FileDescriptor file_;
};

/// Returns the row as one of log.jsonl.
JsonRow json_row(const RankRow& row, bool has_sensors);

/// Returns the header and the rows of a table's `text` that are of steps up to `last_step`. If `has_sensors`, rows of a
/// table without columns of GPUs get empty ones.
std::string keep_rank_rows(std::string_view text, bool has_sensors, std::int64_t last_step);

}  // namespace convoy
