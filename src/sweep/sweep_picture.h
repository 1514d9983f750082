/// The table of a sweep as a picture: samples per second over one factor, with a line for each combination of the
/// others.
#pragma once

#include <string>
#include <vector>

namespace convoy {

struct RowResult;
struct SweepHead;
struct SweepTable;

/// Returns an SVG without scripts. The factor with the most values (of several the last) runs from left to right. Dots
/// are measured, with a bar from the slowest to the fastest round; dashed lines are predicted. Colours: Okabe & Ito
/// 2002.
std::string draw_sweep(const SweepHead& head, const SweepTable& table, const std::vector<RowResult>& results);

}  // namespace convoy
