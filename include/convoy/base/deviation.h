/// By what values are divided when they are standardised.
#pragma once

namespace convoy {

/// Returns the standard deviation, or 1 if it is 0: then all values are equal.
constexpr double divisor_of(double stddev) {
  return stddev > 0 ? stddev : 1;
}

}  // namespace convoy
