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
  /// mean, stddev: (C) of the array's channels; a standard deviation of 0 counts as 1. Empty: 0 and 1. fill: (C) what a
  /// NaN is read as; empty: a NaN stays one.
  ValueConverter(ElementType type, std::span<const double> mean, std::span<const double> stddev,
                 std::span<const double> fill = {});

  /// Writes (x - mean) / stddev, computed in double and rounded once to float32, for each value x of whole pixels,
  /// whose channels vary fastest. `from` has as many values as `to`, at any address.
  void convert(std::span<const std::byte> from, std::span<float> to) const;

 private:
  ElementType type_;
  std::vector<double> mean_, stddev_, fill_;  ///< of each value of one pixel, or of several that follow each other
};

}  // namespace convoy
