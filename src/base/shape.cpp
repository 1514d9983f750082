/// Shapes as text.
#include "convoy/base/shape.h"

#include <fmt/core.h>

#include "convoy/base/input_shape.h"
#include "convoy/base/tensor_spec.h"

namespace convoy {

namespace {

std::string to_string(const TextShape& s) {
  return fmt::format("{} tokens of {}", s.length, s.vocabulary);
}

}  // namespace

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

}  // namespace convoy
