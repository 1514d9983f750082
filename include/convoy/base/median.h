/// The median, for reporting times: other programs on the machine disturb single measurements.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

namespace convoy {

/// Of an even number of values the lower one in the middle. There is at least one.
template <typename T>
T median(std::vector<T> values) {
  const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace convoy
