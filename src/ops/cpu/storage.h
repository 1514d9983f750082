/// The types in which the CPU stores tensors: float32, and bfloat16, which is converted to float32 when it is read and
/// rounded when it is written. Loops are templates over the two.
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

/// The largest float32 value that becomes 0 when it is stored as T: half of the smallest positive value of T, or 0 for
/// float32. A larger value is positive when it is read again.
template <typename T>
inline constexpr float kStoredAsZero = std::is_same_v<T, float> ? 0.0f : 0x1p-134f;

[[gnu::always_inline]] inline float to_float(float value) {
  return value;
}
[[gnu::always_inline]] inline float to_float(Bf16 value) {
  return std::bit_cast<float>(std::uint32_t{value.bits} << 16);
}

/// Converts `value` to T, rounded to nearest, ties to even: adds half a unit less one, and one more if the last bit
/// that stays is odd. NaN becomes the NaN of all ones, since the upper half of another NaN may be that of an infinity.
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

/// Converts an untyped pointer of an operation's interface to a pointer to its values.
template <typename T>
[[gnu::always_inline]] inline const T* values_at(const void* data) {
  return static_cast<const T*>(data);
}
template <typename T>
[[gnu::always_inline]] inline T* values_at(void* data) {
  return static_cast<T*>(data);
}

/// Throws Error if the CPU does not store tensors in this type: "a sum in fp16: the CPU stores f32 and bf16". `what` is
/// the begin of the message.
void check_is_stored(const char* what, DataType type);

/// Returns body.template operator()<T>(), with T = Bf16 for kBfloat16, else float. The type has been checked.
template <typename Body>
[[gnu::always_inline]] inline decltype(auto) with_storage(DataType type, Body&& body) {
  return type == DataType::kBfloat16 ? body.template operator()<Bf16>() : body.template operator()<float>();
}

/// Creates the operation Op<T>(spec, more...), where T is the storage type of spec.type.
template <template <typename> typename Op, typename Contract, typename Spec, typename... More>
std::unique_ptr<Contract> make_stored(const Spec& spec, More&... more) {
  return with_storage(
      spec.type, [&]<typename T>() -> std::unique_ptr<Contract> { return std::make_unique<Op<T>>(spec, more...); });
}

}  // namespace convoy::ops::cpu
