/// Samples of the kind that a built-in network reads.
#pragma once

#include <string>

#include "convoy/base/input_shape.h"
#include "convoy/model/network_file.h"

namespace convoy::test {

/// Returns `image`, `text`, or the arrays that the network's file declares.
inline InputShape declared_input(const std::string& name, const ImageShape& image,
                                 const TextShape& text = {.length = 16, .vocabulary = 100}) {
  const NetworkDeclaration declared = find_declaration({.name = name});
  if (declared.reads == input_kinds::kText) return text;
  if (declared.reads == input_kinds::kArrays) return ArrayShapes{{{"values", array_shape(declared.values)}}};
  return image;
}

inline constexpr std::int64_t kDeclaredOutputs = 12;  ///< outputs that every built-in network can have

}  // namespace convoy::test
