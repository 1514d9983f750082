/// The oracle's numbers: plain arrays of double, filled reproducibly with values that float32 holds exactly.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace convoy::reference {

using Array = std::vector<double>;

inline std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

/// Returns random numbers, uniform in [center - radius, center + radius) and rounded to float32.
inline Array random_array(std::int64_t count, std::uint64_t seed, double center = 0, double radius = 1) {
  std::mt19937_64 bits(seed);
  Array values(index(count));
  for (double& value : values) {
    const double unit = static_cast<double>(bits() >> 11) * 0x1p-53;
    value = static_cast<double>(static_cast<float>(center + radius * (2 * unit - 1)));
  }
  return values;
}

inline Array absolute(Array values) {
  for (double& value : values) value = std::abs(value);
  return values;
}

inline double dot(const Array& a, const Array& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

inline double norm(const Array& values) {
  return std::sqrt(dot(values, values));
}

/// |got - want| / |want|; infinite if their numbers of values differ.
inline double relative_distance(const Array& got, const Array& want) {
  if (got.size() != want.size()) return HUGE_VAL;
  Array difference(want.size());
  for (std::size_t i = 0; i < want.size(); ++i) difference[i] = got[i] - want[i];
  return norm(difference) / norm(want);
}

/// d f / d at, by central differences.
inline Array numeric_gradient(const std::function<double(const Array&)>& f, Array at, double step) {
  Array gradient(at.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double center = at[i];
    at[i] = center + step;
    const double above = f(at);
    at[i] = center - step;
    const double below = f(at);
    at[i] = center;
    gradient[i] = (above - below) / (2 * step);
  }
  return gradient;
}

}  // namespace convoy::reference
