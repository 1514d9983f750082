/// What a tensor is, apart from its values and its place.
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

}  // namespace convoy
