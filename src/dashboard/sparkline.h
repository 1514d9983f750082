/// A curve in one line of text.
#pragma once

#include <span>
#include <string>

namespace convoy {

/// A character for each of `columns` parts of the values, of a height between their smallest and their largest: eight
/// heights of blocks or, without Unicode, of signs. What is not finite is left out.
std::string sparkline(std::span<const double> values, int columns, bool unicode);

}  // namespace convoy
