/// What the tests of pooling share, alone and after a batch norm: their specifications in each type, and in words.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"

namespace convoy {

/// `Spec` is PoolingSpec or BatchNormMaxPoolSpec.
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
