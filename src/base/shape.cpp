/// Shapes as text.
#include "convoy/base/shape.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/input_shape.h"
#include "convoy/base/tensor_spec.h"

namespace convoy {

namespace {

std::string to_string(const TextShape& s) {
  return fmt::format("{} tokens of {}", s.length, s.vocabulary);
}

std::string to_string(const ArrayShapes& s) {
  std::vector<std::string> texts;
  for (const auto& [name, shape] : s.inputs)
    texts.push_back(fmt::format("{} {}", name, in_brackets(extents_of_sample(shape))));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::vector<std::int64_t> extents_of_sample(const Shape& s) {
  std::vector<std::int64_t> extents;
  if (s.d > 1) extents.push_back(s.d);
  if (s.length() > 1) extents.push_back(s.h);
  if (s.d * s.w > 1) extents.push_back(s.w);
  extents.push_back(s.c);
  return extents;
}

std::string in_brackets(std::span<const std::int64_t> extents) {
  return fmt::format("({})", fmt::join(extents, ", "));
}

std::string to_string(const Shape& s) {
  const std::string slices = s.d == 1 ? "" : fmt::format("{}x", s.d);
  return fmt::format("{}x{}{}x{}x{}", s.n, slices, s.h, s.w, s.c);
}

std::string to_string(const ImageShape& s) {
  return fmt::format("{}x{}x{}", s.h, s.w, s.c);
}

std::string to_string(const TensorSpec& spec) {
  return fmt::format("{} {}", to_string(spec.shape), to_string(spec.type));
}

std::string to_string(const InputShape& s) {
  return std::visit([](const auto& shape) { return to_string(shape); }, s);
}

const NamedShape* ArrayShapes::image() const {
  return inputs.size() == 1 && has_rows_and_columns(inputs.front().shape) ? &inputs.front() : nullptr;
}

const NamedShape* ArrayShapes::find(std::string_view name) const {
  const auto found = std::ranges::find(inputs, name, &NamedShape::name);
  if (found != inputs.end()) return &*found;
  return name == features::kImage ? image() : nullptr;
}

Shape array_shape(std::span<const std::int64_t> dims) {
  switch (dims.size()) {
    case 1:
      return Shape::vectors(1, dims[0]);
    case 2:
      return Shape::sequences(1, dims[0], dims[1]);
    case 3:
      return Shape::images(1, dims[0], dims[1], dims[2]);
    case 4:
      return {.n = 1, .d = dims[0], .h = dims[1], .w = dims[2], .c = dims[3]};
    default:
      fail("an array of a sample has {} dimensions, and not 1 to 4", dims.size());
  }
}

}  // namespace convoy
