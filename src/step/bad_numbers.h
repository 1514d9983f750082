/// Values that are not finite numbers: how many a tensor has, and which tensors of a step have some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoy/base/data_type.h"

namespace convoy {

struct NumberCount {
  std::int64_t num_values = 0;
  std::int64_t num_bad = 0;  ///< infinities and NaN
  double largest = 0;        ///< largest absolute value of those that are finite

  NumberCount& operator+=(const NumberCount& more);
  bool operator==(const NumberCount&) const = default;
};

/// Counts the bad values of a tensor's copy in the host's memory. Integers are never bad.
NumberCount count_numbers(DataType type, std::span<const std::byte> values);

/// A tensor of a step, or a micro-batch's loss, that is bad. Sent between ranks as its bytes in memory.
struct BadNumbers {
  enum class Kind : std::int64_t { kParameter, kFeature, kOutput, kLoss, kGradient };
  static constexpr std::int64_t kNone = -1;

  Kind kind = Kind::kLoss;
  std::int64_t micro_batch = kNone;  ///< number in the step; kNone for parameters and their gradients
  std::int64_t cell = kNone;         ///< number in the network; kNone for a loss
  std::int64_t index = 0;            ///< number of the parameter or feature in its cell
  NumberCount count;                 ///< of the tensor; empty for a loss
  double loss = 0;                   ///< mean over the micro-batch

  bool operator==(const BadNumbers&) const = default;
};

/// Sorts by kind, in the order of Kind; then in the order in which the step computes them: by cell, by index, by
/// micro-batch, but gradients from the last to the first. Joins parts of one tensor that several ranks have found.
std::vector<BadNumbers> sorted(std::vector<BadNumbers> found);

}  // namespace convoy
