/// The contract of the mean over the tokens of a sequence, without its padding.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

struct SequenceMeanSpec {
  std::int64_t n = 0;                  ///< number of sequences, N
  std::int64_t length = 0;             ///< number of tokens of the longest sequence, T
  std::int64_t width = 0;              ///< number of values of a token, C
  DataType type = DataType::kFloat32;  ///< storage type of x, y, dy and dx
};

/// The mean of the tokens of each sequence:
/// y[n]    = sum over t < length[n] of x[n,t] / length[n]      x (N,T,C)   lengths (N)   y (N,C)
/// dx[n,t] = dy[n] / length[n] for t < length[n], else 0
/// A length outside of 1..T counts as the nearest of these. Sums are float32, in an order that depends on the length, C
/// and the type alone; y is rounded once to spec.type. Backward overwrites dx.
class SequenceMeanOp {
 public:
  using Spec = SequenceMeanSpec;
  static constexpr const char* kName = "mean over a sequence";

  virtual ~SequenceMeanOp() = default;

  /// Computes y. `lengths` is in memory that the device reads.
  virtual void forward(const void* x, const std::int32_t* lengths, void* y) = 0;
  virtual void backward(const void* dy, const std::int32_t* lengths, void* dx) = 0;
};

}  // namespace convoy::ops
