/// The types of the values in users' arrays, under NumPy's names. They are what files and shards hold; a network
/// computes in the types of data_type.h.
#pragma once

#include <cstdint>

namespace convoy {

enum class ElementType {
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat16,
  kFloat32,
  kFloat64,
};

constexpr std::int64_t size_of(ElementType type) {
  switch (type) {
    case ElementType::kInt8:
    case ElementType::kUint8:
      return 1;
    case ElementType::kInt16:
    case ElementType::kUint16:
    case ElementType::kFloat16:
      return 2;
    case ElementType::kInt32:
    case ElementType::kUint32:
    case ElementType::kFloat32:
      return 4;
    default:
      return 8;
  }
}

constexpr const char* to_string(ElementType type) {
  switch (type) {
    case ElementType::kInt8:
      return "int8";
    case ElementType::kInt16:
      return "int16";
    case ElementType::kInt32:
      return "int32";
    case ElementType::kInt64:
      return "int64";
    case ElementType::kUint8:
      return "uint8";
    case ElementType::kUint16:
      return "uint16";
    case ElementType::kUint32:
      return "uint32";
    case ElementType::kUint64:
      return "uint64";
    case ElementType::kFloat16:
      return "float16";
    case ElementType::kFloat32:
      return "float32";
    default:
      return "float64";
  }
}

}  // namespace convoy
