/// Compares two lists of tensors, and finds where their values differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/io/named_tensor.h"

namespace convoy {

/// The difference between two tensors, a and b, of the same name and shape, that do not have the same bits.
struct TensorDifference {
  std::string name;
  std::int64_t num_values = 0, num_differing = 0;
  double largest = 0;               ///< largest |a - b| of two values; infinite or NaN if a value is
  std::vector<std::int64_t> where;  ///< indices of the values with the largest difference, one per dimension
  float a = 0, b = 0;               ///< the values with the largest difference
};

/// The result of compare_tensors().
struct TensorsComparison {
  std::int64_t num_tensors = 0;               ///< number of tensors that both lists have with the same shape
  std::vector<TensorDifference> differences;  ///< of tensors that differ, sorted by name
  std::vector<std::string> only_a, only_b;    ///< names of tensors that only one of the lists has
  std::vector<std::string> different_shapes;  ///< "fc.weight: 10x512 and 9x512"

  /// Whether both lists have the same tensors with the same bits.
  bool equal() const { return differences.empty() && only_a.empty() && only_b.empty() && different_shapes.empty(); }
};

/// Compares tensors of the same name, bit by bit.
TensorsComparison compare_tensors(const std::vector<io::NamedTensor>& a, const std::vector<io::NamedTensor>& b);

/// Returns "equal (62 tensors)\n", or lines with the number of tensors that differ and details of the first ones. Lines
/// after the first are indented.
std::string describe(const TensorsComparison& comparison);

}  // namespace convoy
