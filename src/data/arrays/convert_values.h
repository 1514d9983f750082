/// Turns the stored values of arrays into the numbers that a network reads.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "convoy/base/element_type.h"

namespace convoy {

/// Normalises the values of one array. Any thread may use it.
class ValueConverter {
 public:
  /// mean, stddev: (C) of the array's channels; a standard deviation of 0 counts as 1. Empty: values are only rounded
  /// to float32.
  ValueConverter(ElementType type, std::span<const double> mean, std::span<const double> stddev);

  /// Writes (x - mean) / stddev, computed in double and rounded once to float32, for each value x of whole pixels,
  /// whose channels vary fastest. `from` has the values in the order of bytes of the processor, at any address.
  void convert(const std::byte* from, std::span<float> to) const;

 private:
  ElementType type_;
  std::vector<double> mean_, stddev_;  ///< of each value of a run of whole pixels, at which the loop is long enough
};

}  // namespace convoy
