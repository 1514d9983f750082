/// The table of a sweep: CSV for programs, Markdown and a picture for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/params/choices.h"

namespace convoy {

struct RowResult;
struct SweepRow;
struct SweepTable;

/// The facts about a sweep that are written above its table.
struct SweepHead {
  std::string network;  ///< name of the network
  std::string sample;   ///< kind of a sample: "image" or "text"
  std::string machine;  ///< hosts and device
  std::string date;     ///< day of the measurement: "2026-01-31"
  SweepWork work = SweepWork::kTrain;
  std::int64_t num_rounds = 0, num_steps = 0;
};

/// Returns a time in milliseconds, with four digits, or with all digits before the point if there are more: "81.25",
/// "6523", "12345".
std::string milliseconds(double seconds);

/// Returns the number of samples of a step, divided by the step's median duration. At least one round must have been
/// measured (result.num_rounds > 0).
double samples_per_second(const RowResult& result);

/// Returns whether the rounds of a row differ by more than a fifth, so that its numbers say little.
bool is_disturbed(const RowResult& result);

/// Returns the table as CSV, with a line per row. Times are in seconds, memory in bytes, shares from 0 to 1. Columns of
/// ranks have a number for each rank, separated by blanks. The columns of a row that was not measured are empty, and
/// its column "reason" says why. `results` has one entry per row.
std::string sweep_csv(const SweepTable& table, const std::vector<RowResult>& results);

/// Returns the table as Markdown, with its head and an explanation of its columns. `results` has one entry per row.
std::string sweep_markdown(const SweepHead& head, const SweepTable& table, const std::vector<RowResult>& results);

/// Returns an SVG picture without scripts: samples per second over one factor, with a line for each combination of the
/// other factors. The x-axis is the factor with the most values; of several, the last. Dots are measured, with a bar
/// from the slowest to the fastest round; dashed lines are predicted. The colours are those of Okabe & Ito 2002.
/// `results` has one entry per row.
std::string draw_sweep(const SweepHead& head, const SweepTable& table, const std::vector<RowResult>& results);

}  // namespace convoy
