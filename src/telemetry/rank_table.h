/// The file ranks.csv: what each rank did with its time, one row per rank and interval. Used by rank 0 only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/schedule/timeline.h"

#include "telemetry/json_log.h"
#include "telemetry/log_file.h"
#include "telemetry/rank_meter.h"

namespace convoy {

/// A row of ranks.csv: what a rank did in an interval.
struct RankRow {
  double time = 0;  ///< time at which the row was made, in seconds since 1970
  std::int64_t rank = 0, replica = 0, stage = 0;
  std::string host;
  RankSample sample;
  std::optional<TimeShares> shares;  ///< division of the time of its steps; empty if its waits are not known
};

/// Writes ranks.csv.
class RankTable {
 public:
  /// Opens the file at `path`, and keeps its rows of steps up to `last_step`. It has columns for GPU sensors if
  /// `has_sensors` is set, or if it had them before. Throws Error with the file and the system's reason, as add() does.
  RankTable(const std::string& path, bool has_sensors, std::int64_t last_step);

  /// Writes the rows to the file at once.
  void add(const std::vector<RankRow>& rows);

 private:
  RankTable(const std::string& path, const std::string& text, bool has_sensors, std::int64_t last_step);

  bool has_sensors_;
  LogFile file_;
};

/// Returns the same row for log.jsonl.
JsonRow json_row(const RankRow& row, bool has_sensors);

}  // namespace convoy
