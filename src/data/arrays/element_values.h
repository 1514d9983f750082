/// Loops over the values of users' arrays: conversions, values that are not finite, channels that become the last axis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "convoy/base/element_type.h"

namespace convoy {

/// What is lost where float64 becomes float32.
struct LossOfPrecision {
  std::int64_t num_values = 0;
  std::int64_t num_changed = 0;        ///< number of values that changed
  std::int64_t num_whole_changed = 0;  ///< number of whole numbers among them, as ids and times above 2^24 are
  double largest = 0;                  ///< largest change of a value, as a share of its size

  /// Adds what another rank, or another part, has lost.
  void add(const LossOfPrecision& other);
};

/// Converts values of a type to doubles; 64-bit integers beyond 2^53 are rounded.
void convert_to_doubles(ElementType type, std::span<const std::byte> values, std::span<double> doubles);

/// Rounds doubles to float32 and adds to `loss`. Returns the index of the first finite value that is beyond float32; -1
/// if there is none.
std::int64_t round_to_float32(std::span<const double> values, std::span<float> rounded, LossOfPrecision& loss);

/// Returns the index of the first value at or after `first` that is NaN or infinite; -1 if all are finite, as integers
/// are.
std::int64_t find_not_finite(ElementType type, std::span<const std::byte> values, std::int64_t first = 0);
/// Returns the index of the first value at or after `first` that is infinite; -1 if there is none.
std::int64_t find_infinite(ElementType type, std::span<const std::byte> values, std::int64_t first = 0);
/// Returns one of the values.
double value_at(ElementType type, std::span<const std::byte> values, std::int64_t index);

/// Copies a sample (C, pixels) to (pixels, C). Values have `value_bytes` bytes: 1, 2, 4 or 8.
void move_channels_last(std::int64_t channels, std::int64_t value_bytes, std::span<const std::byte> from,
                        std::span<std::byte> to);

}  // namespace convoy
