/// The efficiency of the fastest layout over the number of ranks, as a picture.
#pragma once

#include <string>
#include <vector>

#include "plan/planner.h"

namespace convoy {

/// Returns an SVG without scripts that has a bar for each number of ranks. The bar is a step of the fastest layout; its
/// parts are the work and the waits of the ranks (StepParts). The efficiency, if known, is written above the bar and
/// the layout below it. A number of ranks without a possible layout has no bar. Colours: Okabe & Ito 2002.
std::string draw_efficiency(const std::vector<LayoutComparison>& comparisons);

}  // namespace convoy
