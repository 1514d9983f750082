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

/// A rank in an interval.
struct RankRow {
  double time = 0;  ///< seconds since 1970
  std::int64_t rank = 0, replica = 0, stage = 0;
  std::string host;
  RankSample sample;
  std::optional<TimeShares> shares;  ///< of its steps; not where waits are not known
};

class RankTable {
 public:
  /// Of the rows that are there, those of steps up to `last_step` stay. Columns of GPUs are there where they are read,
  /// or were before. Throws Error naming the file and the system's reason, as add() does.
  RankTable(const std::string& path, bool has_sensors, std::int64_t last_step);

  /// The rows are in the file at once.
  void add(const std::vector<RankRow>& rows);

 private:
  std::string path_;
  bool has_sensors_;
  FileDescriptor file_;
};

/// The same as a row of log.jsonl.
JsonRow json_row(const RankRow& row, bool has_sensors);

/// The rows of a table's `text` that stay, with its header; in a table with columns of GPUs those of others have empty
/// ones.
std::string keep_rank_rows(std::string_view text, bool has_sensors, std::int64_t last_step);

}  // namespace convoy
