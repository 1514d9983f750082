/// A curve that is drawn in one line of text.
#pragma once

#include <span>
#include <string>

namespace convoy {

/// Divides the values into `columns` equal parts and returns one character for the mean of each part. Its height is one
/// of eight, from the smallest to the largest mean: block characters or, without `unicode`, ASCII characters. Infinite
/// values and NaN are left out.
std::string sparkline(std::span<const double> values, int columns, bool unicode);

}  // namespace convoy
