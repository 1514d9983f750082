/// Values that are not finite numbers: their number in a tensor, and the tensors of a training step that have some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoy/base/data_type.h"

namespace convoy {

/// Counts of the values of a tensor.
struct NumberCount {
  std::int64_t num_values = 0;
  std::int64_t num_bad = 0;  ///< number of infinities and NaN
  double largest = 0;        ///< largest absolute value among the finite ones

  NumberCount& operator+=(const NumberCount& more);
  bool operator==(const NumberCount&) const = default;
};

/// Counts the values of a tensor that are infinite or NaN. `values` is its copy in host memory. Integers are never bad.
NumberCount count_numbers(DataType type, std::span<const std::byte> values);

/// A tensor of a training step that has infinities or NaN, or a micro-batch whose loss is not finite or is too large.
/// Sent between ranks as its bytes in memory.
struct BadNumbers {
  enum class Kind : std::int64_t { kParameter, kFeature, kOutput, kLoss, kGradient };
  static constexpr std::int64_t kNone = -1;

  Kind kind = Kind::kLoss;
  /// Index of the micro-batch in the step, over all replicas; kNone for parameters and their gradients.
  std::int64_t micro_batch = kNone;
  std::int64_t cell = kNone;  ///< index of the cell in the network; kNone for a loss
  std::int64_t index = 0;     ///< index of the parameter or of the feature in its cell; 0 for an output or a loss
  NumberCount count;          ///< counts of the tensor's values; zeros for a loss
  double loss = 0;            ///< for a loss: mean over the samples of the micro-batch

  bool operator==(const BadNumbers&) const = default;
};

/// Sorts by kind, in the order of Kind, then in the order in which the step computes the tensors: by cell, index and
/// micro-batch, gradients from the last cell to the first. Joins the counts of a tensor whose parts several ranks have
/// found.
std::vector<BadNumbers> sorted(std::vector<BadNumbers> found);

}  // namespace convoy
