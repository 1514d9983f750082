/// The parts that the tests of pooling, alone and after a batch norm, share: specs in each type, and as text.
#pragma once

#include <string>
#include <vector>

#include <fmt/core.h>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"

namespace convoy {

/// Returns each spec with each type. `Spec` is PoolingSpec or BatchNormMaxPoolSpec.
template <typename Spec>
std::vector<Spec> with_types(const std::vector<Spec>& specs, const std::vector<DataType>& types) {
  std::vector<Spec> all;
  for (const DataType type : types) {
    for (Spec spec : specs) {
      spec.type = type;
      all.push_back(spec);
    }
  }
  return all;
}

template <typename Spec>
std::string describe(const Spec& spec) {
  return fmt::format("{} kernel {} stride {} padding {}, {}", to_string(spec.x), spec.kernel, spec.stride, spec.padding,
                     to_string(spec.type));
}

}  // namespace convoy
