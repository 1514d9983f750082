/// Where two sets of tensors differ, to the value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/io/checkpoint.h"

namespace convoy {

/// A tensor of both, of one shape, whose values are not the same bits.
struct TensorDifference {
  std::string name;
  std::int64_t num_values = 0, num_differing = 0;
  double largest = 0;               ///< of |a - b|; infinite or NaN where a value is
  std::vector<std::int64_t> where;  ///< its indices
  float a = 0, b = 0;               ///< the two values there
};

struct TensorsComparison {
  std::int64_t num_tensors = 0;               ///< that both have, of one shape
  std::vector<TensorDifference> differences;  ///< in the order of the names
  std::vector<std::string> only_a, only_b;    ///< names
  std::vector<std::string> different_shapes;  ///< "fc.weight: 10x512 and 9x512"

  bool equal() const { return differences.empty() && only_a.empty() && only_b.empty() && different_shapes.empty(); }
};

TensorsComparison compare_tensors(const std::vector<io::NamedTensor>& a, const std::vector<io::NamedTensor>& b);

/// "equal (62 tensors)", or how many differ, and about the first of them all there is to say; lines are indented.
std::string describe(const TensorsComparison& comparison);

}  // namespace convoy
