/// Storage types by their definition: the doubles that they hold, the rounding of others, and their bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "convoy/base/data_type.h"

#include "reference/array.h"

namespace convoy::reference {

/// 2^exponent, of a normal double. Tests convert many millions of values: std::ldexp and std::ilogb would take most of
/// their time.
inline double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// The exponent of a normal double; less than that of any for 0 and those below.
inline int exponent_of(double value) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff) - 1023;
}

/// An IEEE binary format: 1 bit of sign, some of exponent, the rest fraction.
struct Format {
  int exponent_bits, fraction_bits;

  int offset() const { return (1 << (exponent_bits - 1)) - 1; }
  double largest() const { return (2 - power_of_two(-fraction_bits)) * power_of_two(offset()); }
  /// The distance of neighbouring values around `value`: 2^(e - fraction bits), with the exponent e of `value`, or the
  /// smallest e for subnormal values.
  double unit(double value) const { return power_of_two(std::max(exponent_of(value), 1 - offset()) - fraction_bits); }
};

inline Format format_of(DataType type) {
  switch (type) {
    case DataType::kBfloat16:
      return {8, 7};
    case DataType::kFloat16:
      return {5, 10};
    default:
      return {8, 23};
  }
}

/// Returns `value` rounded to nearest, ties to even; infinity if that exceeds the largest value.
inline double rounded(DataType type, double value) {
  if (!std::isfinite(value)) return value;
  const Format format = format_of(type);
  const double unit = format.unit(value), result = std::nearbyint(value / unit) * unit;
  return std::abs(result) <= format.largest() ? result : std::copysign(HUGE_VAL, value);
}

inline Array rounded(DataType type, Array values) {
  for (double& value : values) value = rounded(type, value);
  return values;
}

/// The largest error of rounding a value of at most `magnitude`: half a unit.
inline double rounding_error(DataType type, double magnitude) {
  return format_of(type).unit(magnitude) / 2;
}

/// The bits of a value that the type holds.
inline std::uint32_t encoded(DataType type, double value) {
  const Format format = format_of(type);
  const auto exponent_ones = (std::uint32_t{1} << format.exponent_bits) - 1;
  const auto sign = std::uint32_t{std::signbit(value)} << (format.exponent_bits + format.fraction_bits);
  if (std::isnan(value)) return (exponent_ones << format.fraction_bits) | 1;
  if (std::isinf(value)) return sign | exponent_ones << format.fraction_bits;
  // The fraction with the bit before it, which adds 1 to the exponent of all but subnormal values.
  const double unit = format.unit(value);
  const auto digits = static_cast<std::uint32_t>(std::abs(value) / unit);
  const auto exponent = static_cast<std::uint32_t>(exponent_of(unit) + format.fraction_bits + format.offset() - 1);
  return sign | ((exponent << format.fraction_bits) + digits);
}

inline double decoded(DataType type, std::uint32_t bits) {
  const Format format = format_of(type);
  const auto fraction = static_cast<int>(bits & ((std::uint32_t{1} << format.fraction_bits) - 1));
  const auto exponent =
      static_cast<int>(bits >> format.fraction_bits & ((std::uint32_t{1} << format.exponent_bits) - 1));
  const double sign = (bits >> (format.exponent_bits + format.fraction_bits) & 1) == 0 ? 1 : -1;
  if (exponent == (1 << format.exponent_bits) - 1) {
    return fraction == 0 ? sign * HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  }
  const int leading = exponent == 0 ? 0 : 1 << format.fraction_bits;
  return sign * (fraction + leading) * power_of_two(std::max(exponent, 1) - format.offset() - format.fraction_bits);
}

}  // namespace convoy::reference
