/// Draws the table of a sweep: samples per second over one factor, with a line for each combination of the other
/// factors.
#pragma once

#include <string>
#include <vector>

namespace convoy {

struct RowResult;
struct SweepHead;
struct SweepTable;

/// Returns an SVG picture without scripts. The x-axis is the factor with the most values; of several, the last. Dots
/// are measured, with a bar from the slowest to the fastest round; dashed lines are predicted. The colours are those of
/// Okabe & Ito 2002. `results` has one entry per row.
std::string draw_sweep(const SweepHead& head, const SweepTable& table, const std::vector<RowResult>& results);

}  // namespace convoy
