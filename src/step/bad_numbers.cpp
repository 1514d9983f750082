/// Counting by reading every value, and an order that does not depend on who found what.
#include "step/bad_numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

namespace convoy {

namespace {

// Each is exact in a double.
double read_float32(const std::byte* from) {
  float value = 0;
  std::memcpy(&value, from, sizeof value);
  return static_cast<double>(value);
}

std::uint16_t read_16_bits(const std::byte* from) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, from, sizeof bits);
  return bits;
}

double read_bfloat16(const std::byte* from) {
  return static_cast<double>(std::bit_cast<float>(std::uint32_t{read_16_bits(from)} << 16));
}

// The magnitude. 5 bits of exponent, all ones: infinity or NaN; all zeros: without the leading one.
double read_float16(const std::byte* from) {
  const int bits = read_16_bits(from), exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return std::numeric_limits<double>::infinity();
  return exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
}

NumberCount count_each(std::span<const std::byte> values, std::int64_t size, double (*read)(const std::byte*)) {
  NumberCount count{.num_values = std::ssize(values) / size};
  for (std::int64_t i = 0; i < count.num_values; ++i) {
    const double value = read(values.data() + i * size);
    if (!std::isfinite(value)) {
      ++count.num_bad;
    } else {
      count.largest = std::max(count.largest, std::abs(value));
    }
  }
  return count;
}

auto order_of(const BadNumbers& bad) {
  const std::int64_t direction = bad.kind == BadNumbers::Kind::kGradient ? -1 : 1;
  return std::tuple(bad.kind, direction * bad.cell, direction * bad.index, bad.micro_batch);
}

}  // namespace

NumberCount& NumberCount::operator+=(const NumberCount& more) {
  num_values += more.num_values;
  num_bad += more.num_bad;
  largest = std::max(largest, more.largest);
  return *this;
}

NumberCount count_numbers(DataType type, std::span<const std::byte> values) {
  switch (type) {
    case DataType::kFloat32:
      return count_each(values, size_of(type), read_float32);
    case DataType::kBfloat16:
      return count_each(values, size_of(type), read_bfloat16);
    case DataType::kFloat16:
      return count_each(values, size_of(type), read_float16);
    case DataType::kInt32:
      break;
  }
  return {.num_values = std::ssize(values) / size_of(type)};
}

std::vector<BadNumbers> sorted(std::vector<BadNumbers> found) {
  std::ranges::stable_sort(found, {}, order_of);
  std::vector<BadNumbers> joined;
  for (const BadNumbers& bad : found) {
    if (!joined.empty() && order_of(joined.back()) == order_of(bad)) {
      joined.back().count += bad.count;
    } else {
      joined.push_back(bad);
    }
  }
  return joined;
}

}  // namespace convoy
