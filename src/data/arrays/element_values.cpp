/// One loop for each type, which the compiler writes in vectors.
#include "data/arrays/element_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace convoy {

namespace {

// 1 bit of sign, 5 of exponent, 10 of fraction.
double value_of_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16, size = half & 0x7fffu;
  if (size >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (size & 0x3ffu) << 13);
  // The exponents of both types differ by 112. The product is exact, also for numbers without a leading 1.
  return std::bit_cast<float>(sign | size << 13) * 0x1p112f;
}

template <typename Number>
void to_doubles(std::span<const std::byte> values, std::span<double> doubles) {
  for (std::size_t i = 0; i < doubles.size(); ++i) {
    Number number;
    std::memcpy(&number, values.data() + i * sizeof number, sizeof number);
    doubles[i] = static_cast<double>(number);
  }
}

// A number is not finite if all bits of its exponent are set.
template <typename Bits, Bits kExponent>
std::int64_t find_full_exponent(std::span<const std::byte> values, std::int64_t first) {
  constexpr std::size_t kRun = 64;
  const auto is_full = [&](std::size_t i) {
    Bits bits;
    std::memcpy(&bits, values.data() + i * sizeof bits, sizeof bits);
    return (bits & kExponent) == kExponent;
  };
  const std::size_t count = values.size() / sizeof(Bits);
  for (auto begin = static_cast<std::size_t>(first); begin < count; begin += kRun) {
    const std::size_t end = std::min(begin + kRun, count);
    bool any = false;
    for (std::size_t i = begin; i < end; ++i) any |= is_full(i);
    for (std::size_t i = begin; any && i < end; ++i)
      if (is_full(i)) return static_cast<std::int64_t>(i);
  }
  return -1;
}

template <std::size_t kBytes>
void transpose(std::size_t channels, std::span<const std::byte> from, std::span<std::byte> to) {
  constexpr std::size_t kTile = 64;  // pixels that stay in the cache while all channels are copied
  const std::size_t pixels = from.size() / kBytes / channels;
  for (std::size_t begin = 0; begin < pixels; begin += kTile) {
    const std::size_t end = std::min(begin + kTile, pixels);
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t p = begin; p < end; ++p)
        std::memcpy(to.data() + (p * channels + c) * kBytes, from.data() + (c * pixels + p) * kBytes, kBytes);
  }
}

}  // namespace

void LossOfPrecision::add(const LossOfPrecision& other) {
  num_values += other.num_values;
  num_changed += other.num_changed;
  num_whole_changed += other.num_whole_changed;
  largest = std::max(largest, other.largest);
}

void convert_to_doubles(ElementType type, std::span<const std::byte> values, std::span<double> doubles) {
  using enum ElementType;
  switch (type) {
    case kInt8:
      return to_doubles<std::int8_t>(values, doubles);
    case kInt16:
      return to_doubles<std::int16_t>(values, doubles);
    case kInt32:
      return to_doubles<std::int32_t>(values, doubles);
    case kInt64:
      return to_doubles<std::int64_t>(values, doubles);
    case kUint8:
      return to_doubles<std::uint8_t>(values, doubles);
    case kUint16:
      return to_doubles<std::uint16_t>(values, doubles);
    case kUint32:
      return to_doubles<std::uint32_t>(values, doubles);
    case kUint64:
      return to_doubles<std::uint64_t>(values, doubles);
    case kFloat32:
      return to_doubles<float>(values, doubles);
    case kFloat64:
      return to_doubles<double>(values, doubles);
    case kFloat16:
      break;
  }
  for (std::size_t i = 0; i < doubles.size(); ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, values.data() + i * sizeof half, sizeof half);
    doubles[i] = value_of_half(half);
  }
}

std::int64_t round_to_float32(std::span<const double> values, std::span<float> rounded, LossOfPrecision& loss) {
  loss.num_values += std::ssize(values);
  std::int64_t beyond = -1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    rounded[i] = static_cast<float>(value);
    const double change = std::abs(static_cast<double>(rounded[i]) - value);
    if (!(change > 0)) continue;  // a NaN or an infinity stays what it is
    if (std::isinf(change)) {
      if (beyond < 0) beyond = static_cast<std::int64_t>(i);
      continue;
    }
    ++loss.num_changed;
    if (std::trunc(value) == value) ++loss.num_whole_changed;
    loss.largest = std::max(loss.largest, change / std::abs(value));
  }
  return beyond;
}

std::int64_t find_not_finite(ElementType type, std::span<const std::byte> values, std::int64_t first) {
  switch (type) {
    case ElementType::kFloat16:
      return find_full_exponent<std::uint16_t, 0x7c00>(values, first);
    case ElementType::kFloat32:
      return find_full_exponent<std::uint32_t, 0x7f800000>(values, first);
    case ElementType::kFloat64:
      return find_full_exponent<std::uint64_t, 0x7ff0000000000000>(values, first);
    default:
      return -1;
  }
}

double value_at(ElementType type, std::span<const std::byte> values, std::int64_t index) {
  double value = 0;
  const std::int64_t size = size_of(type);
  convert_to_doubles(type, values.subspan(static_cast<std::size_t>(index * size), static_cast<std::size_t>(size)),
                     {&value, 1});
  return value;
}

std::int64_t find_infinite(ElementType type, std::span<const std::byte> values, std::int64_t first) {
  std::int64_t at = find_not_finite(type, values, first);
  while (at >= 0 && std::isnan(value_at(type, values, at))) at = find_not_finite(type, values, at + 1);
  return at;
}

void move_channels_last(std::int64_t channels, std::int64_t value_bytes, std::span<const std::byte> from,
                        std::span<std::byte> to) {
  const auto count = static_cast<std::size_t>(channels);
  switch (value_bytes) {
    case 1:
      return transpose<1>(count, from, to);
    case 2:
      return transpose<2>(count, from, to);
    case 4:
      return transpose<4>(count, from, to);
    default:
      return transpose<8>(count, from, to);
  }
}

}  // namespace convoy
