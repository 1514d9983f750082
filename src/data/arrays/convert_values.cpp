/// Converts values in loops that the compiler turns into vector instructions: one for each type.
#include "data/arrays/convert_values.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace convoy {

namespace {

constexpr std::size_t kMinRun = 64;  // values of a loop: few channels alone would be a short one

struct Half {
  std::uint16_t bits;
};

template <typename T>
T widened(T value) {
  return value;
}

// The exponent of a float16 has 5 bits, that of a float32 has 8: moved there, it is too small by 112.
float widened(Half value) {
  const std::uint32_t bits = value.bits, moved = (bits & 0x7fffu) << 13;
  const float finite = std::bit_cast<float>(moved) * 0x1p112f;
  const bool is_finite = (bits & 0x7c00u) != 0x7c00u;
  const std::uint32_t magnitude = is_finite ? std::bit_cast<std::uint32_t>(finite) : moved | 0x7f800000u;
  return std::bit_cast<float>(magnitude | (bits & 0x8000u) << 16);
}

template <typename T>
auto value_at(const std::byte* from, std::size_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof value, sizeof value);
  return widened(value);
}

template <typename T>
void round_all(const std::byte* from, std::span<float> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(value_at<T>(from, i));
}

template <typename T>
void normalize_all(const std::byte* from, std::span<const double> mean, std::span<const double> stddev,
                   std::span<float> to) {
  for (std::size_t first = 0; first < to.size(); first += mean.size()) {
    const std::size_t count = std::min(mean.size(), to.size() - first);
    const std::byte* const run = from + first * sizeof(T);
    for (std::size_t i = 0; i < count; ++i)
      to[first + i] = static_cast<float>((static_cast<double>(value_at<T>(run, i)) - mean[i]) / stddev[i]);
  }
}

}  // namespace

ValueConverter::ValueConverter(ElementType type, std::span<const double> mean, std::span<const double> stddev)
    : type_(type) {
  while (!mean.empty() && mean_.size() < kMinRun) {
    mean_.insert(mean_.end(), mean.begin(), mean.end());
    std::ranges::transform(stddev, std::back_inserter(stddev_), [](double s) { return s > 0 ? s : 1; });
  }
}

void ValueConverter::convert(const std::byte* from, std::span<float> to) const {
  const auto of_type = [&]<typename T>(T) {
    mean_.empty() ? round_all<T>(from, to) : normalize_all<T>(from, mean_, stddev_, to);
  };
  switch (type_) {
    case ElementType::kInt8:
      return of_type(std::int8_t{});
    case ElementType::kInt16:
      return of_type(std::int16_t{});
    case ElementType::kInt32:
      return of_type(std::int32_t{});
    case ElementType::kInt64:
      return of_type(std::int64_t{});
    case ElementType::kUint8:
      return of_type(std::uint8_t{});
    case ElementType::kUint16:
      return of_type(std::uint16_t{});
    case ElementType::kUint32:
      return of_type(std::uint32_t{});
    case ElementType::kUint64:
      return of_type(std::uint64_t{});
    case ElementType::kFloat16:
      return of_type(Half{});
    case ElementType::kFloat32:
      return of_type(float{});
    case ElementType::kFloat64:
      return of_type(double{});
  }
}

}  // namespace convoy
