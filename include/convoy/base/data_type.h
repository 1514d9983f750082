/// The types in which the values of a tensor are stored.
#pragma once

#include <cstdint>

namespace convoy {

enum class DataType {
  kFloat32,
  kBfloat16,  ///< the upper half of a float32: 8 bits of exponent, 7 of fraction
  kFloat16,   ///< IEEE binary16: 5 bits of exponent, 10 of fraction, up to 65504
  kInt32,     ///< 32-bit integers for labels, lengths and tokens, which operations read but do not compute with
};

constexpr std::int64_t size_of(DataType type) {
  return type == DataType::kFloat32 || type == DataType::kInt32 ? 4 : 2;
}

inline constexpr std::int64_t kFloatBytes = size_of(DataType::kFloat32);

constexpr const char* to_string(DataType type) {
  switch (type) {
    case DataType::kBfloat16:
      return "bf16";
    case DataType::kFloat16:
      return "fp16";
    case DataType::kInt32:
      return "i32";
    default:
      return "f32";
  }
}

}  // namespace convoy
