/// The CPU's storage types: float32, and bfloat16, which is widened when read and rounded when written. Loops are
/// templates over the two.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "convoy/base/data_type.h"

namespace convoy::ops::cpu {

/// A bfloat16: the upper half of a float32.
struct Bf16 {
  std::uint16_t bits;
};

/// The largest number that is stored as 0: half of the smallest positive value of T. A larger number is positive when
/// it is read again.
template <typename T>
inline constexpr float kStoredAsZero = std::is_same_v<T, float> ? 0.0f : 0x1p-134f;

[[gnu::always_inline]] inline float to_float(float value) {
  return value;
}
[[gnu::always_inline]] inline float to_float(Bf16 value) {
  return std::bit_cast<float>(std::uint32_t{value.bits} << 16);
}

/// Rounds to nearest, ties to even: adds half a unit less one, and one more if the last bit that stays is odd. NaN,
/// whose upper half alone may be that of an infinity, becomes the NaN of all ones.
template <typename T>
[[gnu::always_inline]] inline T rounded_to(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t nearest = bits + 0x7fffu + (bits >> 16 & 1u), is_nan = value != value ? ~0u : 0u;
    return {static_cast<std::uint16_t>((nearest | is_nan) >> 16)};
  }
}

/// The values at a contract's untyped pointer.
template <typename T>
[[gnu::always_inline]] inline const T* values_at(const void* data) {
  return static_cast<const T*>(data);
}
template <typename T>
[[gnu::always_inline]] inline T* values_at(void* data) {
  return static_cast<T*>(data);
}

/// Throws Error if the CPU does not store this type: "a sum in fp16: the CPU stores f32 and bf16".
void check_is_stored(const char* what, DataType type);

/// Calls body.template operator()<T>() for the type, which has been checked.
template <typename Body>
[[gnu::always_inline]] inline decltype(auto) with_storage(DataType type, Body&& body) {
  return type == DataType::kBfloat16 ? body.template operator()<Bf16>() : body.template operator()<float>();
}

/// Creates the operation for spec.type.
template <template <typename> typename Op, typename Contract, typename Spec, typename... More>
std::unique_ptr<Contract> make_stored(const Spec& spec, More&... more) {
  return with_storage(
      spec.type, [&]<typename T>() -> std::unique_ptr<Contract> { return std::make_unique<Op<T>>(spec, more...); });
}

}  // namespace convoy::ops::cpu
