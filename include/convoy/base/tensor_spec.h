/// Shape and type of a tensor, without its values and its address.
#pragma once

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"

namespace convoy {

struct TensorSpec {
  Shape shape;
  DataType type = DataType::kFloat32;

  std::int64_t bytes() const { return shape.count() * size_of(type); }
  bool operator==(const TensorSpec&) const = default;
};

inline std::string to_string(const TensorSpec& spec) {
  return fmt::format("{} {}", to_string(spec.shape), to_string(spec.type));
}

}  // namespace convoy
