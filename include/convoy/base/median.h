/// The median, for reporting times, since other programs on the machine disturb single measurements.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

namespace convoy {

/// Returns the median of at least one value; of an even number of values, the lower of the two in the middle.
template <typename T>
T median(std::vector<T> values) {
  const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace convoy
