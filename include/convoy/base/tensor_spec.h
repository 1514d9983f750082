/// Shape and type of a tensor, without its values and its address.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"

namespace convoy {

struct TensorSpec {
  Shape shape;
  DataType type = DataType::kFloat32;

  std::int64_t bytes() const { return shape.count() * size_of(type); }
  bool operator==(const TensorSpec&) const = default;
};

std::string to_string(const TensorSpec& spec);  ///< "32x224x224x3 bf16"

}  // namespace convoy
