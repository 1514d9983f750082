/// The value in the middle: what is reported of times, which others on the machine disturb now and then.
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
