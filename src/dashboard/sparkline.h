/// A curve in one line of text.
#pragma once

#include <span>
#include <string>

namespace convoy {

/// Returns a character for the mean of each of `columns` equal parts of the values. It is one of eight blocks or,
/// without `unicode`, one of eight ASCII signs, for heights from the smallest to the largest mean. Values that are not
/// finite are left out.
std::string sparkline(std::span<const double> values, int columns, bool unicode);

}  // namespace convoy
