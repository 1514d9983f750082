/// Values that are not finite numbers: how many a tensor has, and in which tensors of a step there are any.
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
  double largest = 0;        ///< absolute value of those that are finite

  NumberCount& operator+=(const NumberCount& more);
  bool operator==(const NumberCount&) const = default;
};

/// Of a tensor's copy in memory of the host. Integers are never bad.
NumberCount count_numbers(DataType type, std::span<const std::byte> values);

/// A tensor of a step, or a micro-batch's loss, that is bad. Sent between ranks as it lies in memory.
struct BadNumbers {
  enum class Kind : std::int64_t { kParameter, kFeature, kOutput, kLoss, kGradient };
  static constexpr std::int64_t kNone = -1;

  Kind kind = Kind::kLoss;
  std::int64_t micro_batch = kNone;  ///< of the step; none of parameters and their gradients
  std::int64_t cell = kNone;         ///< of the network; none of a loss
  std::int64_t index = 0;            ///< of the parameter, or of the feature, in its cell
  NumberCount count;                 ///< none of a loss
  double loss = 0;                   ///< of the micro-batch: the mean

  bool operator==(const BadNumbers&) const = default;
};

/// In this order: by kind, as above; then as the step comes to them: by cell, by index, by micro-batch; but gradients
/// from the last to the first, as backward computes them. Parts of one tensor, found by several ranks, are joined.
std::vector<BadNumbers> sorted(std::vector<BadNumbers> found);

}  // namespace convoy
