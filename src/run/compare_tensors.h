/// Compares two sets of tensors, and finds where their values differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/io/named_tensor.h"

namespace convoy {

/// A tensor that both sets have with the same shape, but not with the same bits.
struct TensorDifference {
  std::string name;
  std::int64_t num_values = 0, num_differing = 0;
  double largest = 0;               ///< largest |a - b|; infinite or NaN if a value is
  std::vector<std::int64_t> where;  ///< indices of the value with the largest difference
  float a = 0, b = 0;               ///< the two values there
};

struct TensorsComparison {
  std::int64_t num_tensors = 0;               ///< tensors that both have, with the same shape
  std::vector<TensorDifference> differences;  ///< in the order of the names
  std::vector<std::string> only_a, only_b;    ///< names
  std::vector<std::string> different_shapes;  ///< "fc.weight: 10x512 and 9x512"

  bool equal() const { return differences.empty() && only_a.empty() && only_b.empty() && different_shapes.empty(); }
};

TensorsComparison compare_tensors(const std::vector<io::NamedTensor>& a, const std::vector<io::NamedTensor>& b);

/// Describes the comparison: "equal (62 tensors)", or how many tensors differ and all details of the first. Lines are
/// indented.
std::string describe(const TensorsComparison& comparison);

}  // namespace convoy
