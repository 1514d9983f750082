/// The parts that the tests of pooling, alone and after a batch norm, share: specs in each type, and as text.
#pragma once

#include <string>
#include <vector>

#include <fmt/core.h>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"
#include "convoy/ops/batch_norm.h"
#include "convoy/ops/pooling.h"

namespace convoy {

/// Returns each spec with each type.
inline std::vector<ops::PoolingSpec> with_types(const std::vector<ops::PoolingSpec>& specs,
                                                const std::vector<DataType>& types) {
  std::vector<ops::PoolingSpec> all;
  for (const DataType type : types) {
    for (ops::PoolingSpec spec : specs) {
      spec.type = type;
      all.push_back(spec);
    }
  }
  return all;
}

/// The spec of a batch norm with its ReLU and this max pooling in one operation.
inline ops::BatchNormSpec batch_norm_before(const ops::PoolingSpec& pooling) {
  return {.x = pooling.x, .relu = true, .type = pooling.type, .pooling = pooling};
}

inline std::string describe(const ops::PoolingSpec& spec) {
  if (spec.is_adaptive())
    return fmt::format("{} to {}, {}", to_string(spec.x), to_string(spec.y()), to_string(spec.type));
  return fmt::format("{} kernel {} stride {} padding {}{}, {}", to_string(spec.x), spec.kernel, spec.stride,
                     spec.padding, spec.counts_padding ? ", counted" : "", to_string(spec.type));
}

}  // namespace convoy
