/// Defines the shape of a network's input: the pixels of an image, the tokens of a text, or named arrays.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "convoy/base/features.h"
#include "convoy/base/shape.h"

namespace convoy {

/// The shape of texts of up to `length` tokens, each from a vocabulary of `vocabulary` tokens.
struct TextShape {
  std::int64_t length = 0, vocabulary = 0;

  bool operator==(const TextShape&) const = default;
};

/// One of the arrays of a sample.
struct NamedShape {
  std::string name;
  Shape shape;  ///< n = 1

  bool operator==(const NamedShape&) const = default;
};

/// Whether an array of this shape is like an image, with several columns and a single slice.
constexpr bool has_rows_and_columns(const Shape& shape) {
  return shape.d == 1 && shape.w > 1;
}

/// The arrays of a sample.
struct ArrayShapes {
  std::vector<NamedShape> inputs;

  /// Returns the only array, if it has rows and columns; else null. So networks of images read data sets of one array.
  const NamedShape* image() const;
  /// Returns the array with this name, or image() for features::kImage; null if there is none.
  const NamedShape* find(std::string_view name) const;
  bool operator==(const ArrayShapes&) const = default;
};

using InputShape = std::variant<ImageShape, TextShape, ArrayShapes>;

/// "224x224x3", "256 tokens of 20000", "spectrum (1024), image (64, 64, 7)"
std::string to_string(const InputShape& s);

/// The kind of input with this shape (input_kinds in convoy/base/features.h).
inline const char* kind_of(const InputShape& s) {
  return std::holds_alternative<ImageShape>(s)  ? input_kinds::kImages
         : std::holds_alternative<TextShape>(s) ? input_kinds::kText
                                                : input_kinds::kArrays;
}

/// The shape of one array with the extents `dims`, channels last: (C), (T,C), (H,W,C) or (D,H,W,C).
Shape array_shape(std::span<const std::int64_t> dims);

}  // namespace convoy
