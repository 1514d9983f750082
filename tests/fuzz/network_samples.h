/// The samples that networks read in the targets about networks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "convoy/base/input_shape.h"

namespace convoy::fuzz {

inline constexpr std::int64_t kNumOutputs = 12;

/// Images (0), texts (1) or arrays (2).
inline InputShape sample_of_kind(std::size_t kind) {
  if (kind == 0) return ImageShape{32, 32, 3};
  if (kind == 1) return TextShape{.length = 16, .vocabulary = 100};
  return ArrayShapes{{{"values", Shape::sequences(1, 3, 32)}}};
}

}  // namespace convoy::fuzz
