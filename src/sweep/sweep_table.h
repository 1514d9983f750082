/// The table of a sweep as text: for programs (CSV) and for people (Markdown).
#pragma once

#include <string>
#include <vector>

#include "sweep/row_result.h"
#include "sweep/sweep_rows.h"

namespace convoy {

/// What stands above the table.
struct SweepHead {
  std::string network;  ///< its name
  std::string sample;   ///< "image", "text"
  std::string machine;  ///< hosts and device
  std::string date;     ///< 2026-01-31
  SweepWork work = SweepWork::kTrain;
  std::int64_t num_rounds = 0, num_steps = 0;
};

/// "81.25", "6523": milliseconds in four digits, or all that are before the point.
std::string milliseconds(double seconds);

/// Samples in a step over its time.
double samples_per_second(const SweepRow& row, const RowResult& result);

/// A line per row. Seconds, shares of 1, bytes; what was not measured is empty, and `reason` says why.
std::string sweep_csv(const SweepTable& table, const std::vector<RowResult>& results);

/// `results`: of each row.
std::string sweep_markdown(const SweepHead& head, const SweepTable& table, const std::vector<RowResult>& results);

}  // namespace convoy
