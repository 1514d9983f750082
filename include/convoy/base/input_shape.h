/// Defines the shape of a network's input: the pixels of an image, or the tokens of a text.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "convoy/base/features.h"
#include "convoy/base/shape.h"

namespace convoy {

/// The shape of texts of up to `length` tokens, each from a vocabulary of `vocabulary` tokens.
struct TextShape {
  std::int64_t length = 0, vocabulary = 0;

  bool operator==(const TextShape&) const = default;
};

using InputShape = std::variant<ImageShape, TextShape>;

std::string to_string(const InputShape& s);  ///< "224x224x3", "256 tokens of 20000"

/// The kind of input with this shape: input_kinds::kText or kImages (convoy/base/features.h).
inline const char* kind_of(const InputShape& s) {
  return std::holds_alternative<TextShape>(s) ? input_kinds::kText : input_kinds::kImages;
}

}  // namespace convoy
