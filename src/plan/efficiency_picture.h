/// How well more and more ranks are used, as a picture.
#pragma once

#include <string>
#include <vector>

#include "plan/planner.h"

namespace convoy {

/// An SVG without scripts: a bar for each number of ranks, for the fastest layout on it. The bar is a step; its parts
/// are what its ranks do and wait for (StepParts). Above it stands the efficiency, where it is known, below it the
/// layout. Numbers of ranks without a layout have no bar. Colours: Okabe & Ito 2002.
std::string draw_efficiency(const std::vector<Comparison>& comparisons);

}  // namespace convoy
