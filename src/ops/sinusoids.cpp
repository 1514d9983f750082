/// Computes sinusoidal positions, once for each operation.
#include "ops/sinusoids.h"

#include <cmath>

namespace convoy::ops {

std::vector<float> sinusoids(std::int64_t length, std::int64_t width) {
  std::vector<float> values(static_cast<std::size_t>(length * width));
  for (std::int64_t c = 0; c < width; ++c) {
    const double exponent = static_cast<double>(c - c % 2) / static_cast<double>(width);
    const double wavelength = std::pow(10000.0, exponent);
    for (std::int64_t t = 0; t < length; ++t) {
      const double angle = static_cast<double>(t) / wavelength;
      values[static_cast<std::size_t>(t * width + c)] =
          static_cast<float>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return values;
}

}  // namespace convoy::ops
